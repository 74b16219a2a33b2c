import Logging
package import ProviderModel
package import PushProvider
package import PushSupport
import PushTypes

/// The settings of a bridge of one kind, read from the JSON of a request or of the store.
package protocol BridgeSettings: Sendable {
    /// The members of the settings that API callers can set.
    static var object: RequestObject { get }
    /// The members that the provider adds to stored settings. API callers neither set nor see them.
    static var hidden: [any RequestMemberProtocol] { get }
    /// Checks the name of a bridge. Throws ``RequestError`` if a bridge of this kind cannot have this name.
    static func check(name: String) throws(RequestError)
    /// Reads the settings from JSON. Throws ``RequestError`` that names the member at fault.
    init(_ fields: JSONFields) throws(RequestError)
    /// Returns the values to store for the members in ``hidden``, for settings from a caller whose API key is
    /// restricted to single apps. The result is empty if the kind has no hidden members.
    /// - Parameters:
    ///   - bridge: The bridge that is replaced, or `nil` for a new one.
    ///   - policy: The rules for the network addresses that such a caller's settings may contain.
    /// - Throws: ``RequestError`` for settings that such a caller may not set.
    func hiddenMembers(
        replacing bridge: BridgeRecord?,
        _ policy: AddressPolicy
    ) throws(RequestError) -> [String: JSONValue]
}

extension BridgeSettings {
    package static var hidden: [any RequestMemberProtocol] { [] }

    package func hiddenMembers(
        replacing bridge: BridgeRecord?,
        _ policy: AddressPolicy
    ) throws(RequestError) -> [String: JSONValue] { [:] }

    /// Reads the settings of a stored bridge. Throws ``RequestError`` for invalid ones.
    package init(_ bridge: BridgeRecord) throws(RequestError) {
        let (known, hidden) = (Self.object.known, Self.hidden)
        let all = hidden.isEmpty ? known : known.union(hidden.map { $0.name })
        try self.init(JSONFields(bridge.settings, known: all))
    }

    /// Reads the settings of a request.
    /// - Parameter path: The path of the settings in the request body, for error messages.
    /// - Throws: ``RequestError`` that names the member at fault.
    static func read(_ settings: [String: JSONValue], at path: String) throws(RequestError) -> Self {
        try Self(JSONFields(members: settings, path: path, known: Self.object.known))
    }
}

extension Logger {
    /// Logs a warning that `bridge`, whose name is a topic of its own app, has replaced the bridge of another app.
    /// - Parameter app: The other app, which no longer receives notifications through its bridge.
    func warnOfReplacement(by bridge: BridgeRecord, of app: Topic) {
        self.warning(
            "a bridge was replaced: its name is a topic of another app, which has set its own",
            metadata: ["app": "\(app)", "bridge": "\(bridge.kind.rawValue) \(bridge.name)"]
        )
    }
}
