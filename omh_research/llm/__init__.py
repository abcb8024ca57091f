"""Parts of the llm delegate: settings, prices, one model call, tools, answer checks.

Job: everything the delegate needs besides the delegate seam. Only `client` imports the optional
model library, and only when it is used. Importers: delegates, wiring (prices).
"""
