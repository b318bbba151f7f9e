"""The engines that mypyc compiles, and what finds and feeds them. Uncompiled they are never used."""
