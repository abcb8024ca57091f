"""Reading a folder of documents and ranking its passages."""
