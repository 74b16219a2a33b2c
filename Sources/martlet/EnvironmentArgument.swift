public import ArgumentParser
public import PushTypes

extension PushEnvironment: ExpressibleByArgument {}
