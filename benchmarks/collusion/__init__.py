"""How well `cutpurse ladder pairs` finds planted pairs, and how rarely it names an honest one."""
