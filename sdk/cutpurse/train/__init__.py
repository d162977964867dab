"""Training of nets with torch.

`pip install 'cutpurse[train]'` brings torch; `cutpurse-train` is the command. Only `cutpurse.train.ppo` and
`cutpurse.train.run` import it. `cutpurse.learn.net` plays the nets with numpy alone.
"""
