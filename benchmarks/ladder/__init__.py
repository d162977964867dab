"""A ladder of simulated bots whose strength is known: after how many games does it tell who is better?"""
