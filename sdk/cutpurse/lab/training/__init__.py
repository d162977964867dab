"""Training of nets with torch.

The extra `train` brings torch; `cutpurse train` is the command. Only `cutpurse.lab.training.ppo` and
`cutpurse.lab.training.run` import it. `cutpurse.learn.net` plays the nets with numpy alone.
"""
