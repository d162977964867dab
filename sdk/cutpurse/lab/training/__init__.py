"""Training of nets with torch.

The extra `train` brings torch; `cutpurse train` is the command. Only `cutpurse.lab.training.ppo`,
`cutpurse.lab.training.run` and `cutpurse.lab.exploit.net_response` import it. `cutpurse.learn.net` plays the nets with
numpy alone.
"""
