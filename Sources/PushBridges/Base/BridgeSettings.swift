import Logging
package import ProviderModel
package import PushStore
package import PushSupport
import PushTypes

/// The settings of a bridge of one kind, read from the JSON of a request or of the store.
package protocol BridgeSettings: Sendable {
    static var kind: BridgeKind { get }
    /// The members of the JSON object.
    static var members: Set<String> { get }
    /// The members that the provider adds to stored settings. Callers neither set nor see them.
    static var hiddenMembers: Set<String> { get }
    /// Throws ``RequestError`` for a name that the protocol cannot address.
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

extension Logger {
    /// Warns that an app's bridge for its own topic has replaced that of another app, which gets no more notifications
    /// over it.
    func warnOfReplacement(by bridge: BridgeRecord, of app: Topic) {
        self.warning(
            "a bridge was replaced: its name is a topic of another app, which has set its own",
            metadata: ["app": "\(app)", "bridge": "\(bridge.kind.rawValue) \(bridge.name)"]
        )
    }
}
