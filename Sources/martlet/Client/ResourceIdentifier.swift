public import ArgumentParser
public import PushTypes

/// An argument that is a part of a path.
protocol ResourceIdentifier: ExpressibleByArgument, Sendable {
    /// The text in the path.
    var pathPart: String { get }
}

extension String: ResourceIdentifier {
    var pathPart: String { self }
}

extension PushEnvironment: ExpressibleByArgument, ResourceIdentifier {
    var pathPart: String { self.rawValue }
}

extension DeviceTokenKind: ExpressibleByArgument {}

extension DeviceToken: ExpressibleByArgument, ResourceIdentifier {
    /// Reads a token in hexadecimal or base64.
    public init?(argument: String) { self.init(userInput: argument) }

    var pathPart: String { self.hex }
}

extension ChannelID: ExpressibleByArgument {
    /// Reads an id in base64.
    public init?(argument: String) { self.init(argument) }
}
