package import PushStore
package import PushSupport

/// The settings of a bridge of one kind, read from the JSON of a request or of the store.
package protocol BridgeSettings: Sendable {
    static var kind: BridgeKind { get }
    /// The members of the JSON object.
    static var members: Set<String> { get }
    /// The members that the provider adds to stored settings: no caller names or sees them.
    static var hiddenMembers: Set<String> { get }
    /// Checks a name: throws ``RequestError`` for one that the protocol could not address.
    static func check(name: String) throws(RequestError)
    /// - Throws: ``RequestError`` that names the member at fault.
    init(_ fields: JSONFields) throws(RequestError)
}

extension BridgeSettings {
    package static var hiddenMembers: Set<String> { [] }

    /// Reads the settings of a stored bridge.
    package init(_ bridge: BridgeRecord) throws(RequestError) {
        try self.init(JSONFields(bridge.settings, known: Self.members.union(Self.hiddenMembers)))
    }

    /// Checks the settings of a request.
    /// - Parameter path: The path of the object in the request.
    /// - Throws: ``RequestError`` that names the member at fault.
    static func check(_ settings: [String: JSONValue], at path: String) throws(RequestError) {
        _ = try Self(JSONFields(members: settings, path: path, known: Self.members))
    }
}
