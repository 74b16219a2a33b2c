public import ArgumentParser
public import PushProtocol

extension PushEnvironment: ExpressibleByArgument {}
