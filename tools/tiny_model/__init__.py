"""A tiny checkpoint of ERNIE-4.5-VL's architecture, with a scripted answer, for real vLLM servers."""
