package import Foundation
package import PushSupport
package import PushTypes

/// A configured bridge, which translates the requests of another system for one app.
package struct BridgeRecord: Hashable, Sendable {
    /// The maximum length of a name, in bytes. A longer one is rejected.
    package static let maximumName = 255
    /// The maximum number of bridges of an app, of all kinds together. It is low because a change of any bridge makes
    /// requests read all bridges of their kind again.
    package static let maximumOfApp = 50

    package var kind: BridgeKind
    /// The name by which the other system addresses the bridge, unique among the bridges of its kind.
    package var name: String
    package var app: Int64
    /// The environment of the bridge's pushes, or `nil` for the environment of each device.
    package var environment: PushEnvironment?
    /// The settings that are specific to the kind, as a JSON object.
    package var settings: JSONValue
    /// The secret shared with the other system, or an empty string for none. The store seals it with the master key.
    package var secret: String
    /// The id of this version of the record, which each change replaces.
    package var revision: UUID
    package var changedAt: Timestamp
    /// The position in the order in which bridges were added. The store assigns it.
    package var number: Int64 = 0

    package init(
        kind: BridgeKind,
        name: String,
        app: Int64,
        environment: PushEnvironment? = nil,
        settings: JSONValue = .object([:]),
        secret: String = "",
        revision: UUID = UUID(),
        changedAt: Timestamp
    ) {
        (self.kind, self.name, self.app, self.environment) = (kind, name, app, environment)
        (self.settings, self.secret, self.revision, self.changedAt) = (settings, secret, revision, changedAt)
    }

    /// Returns the length of an app's bundle id if the name of a Matrix bridge begins with it, or 0 otherwise. Of two
    /// apps, the one with the greater length has the better claim to the name, and to the app ids that it matches.
    package static func claim(to name: String, of bundleID: String) -> Int {
        let isOwn =
            name == bundleID || GlobPattern.literals(of: name).starts(with: "\(bundleID).".unicodeScalars)
        return isOwn ? bundleID.utf8.count : 0
    }

    /// Returns the bundle ids with which the name of a Matrix bridge may begin, shortest first.
    package static func bundleIDs(beginning name: String) -> [String] {
        let literals = GlobPattern.literals(of: name)
        return literals.indices.filter { literals[$0] == "." }.map { String(literals[..<$0]) } + [name]
    }
}

/// The result of setting a bridge.
package enum BridgeChangeResult: Hashable, Sendable {
    /// A result for a stored bridge. `displaced` is the app whose bridge it has replaced, or `nil` if there is none.
    case done(BridgeRecord, displaced: Topic?)
    /// A refusal because the name belongs to another app's bridge.
    case nameTaken
    /// A refusal because this Matrix bridge matches app ids of another app, by its bundle id or by a bridge.
    case nameOverlaps
    /// A refusal because the name of this binary bridge is a topic of another app.
    case topicTaken
    /// A refusal because the app has ``BridgeRecord/maximumOfApp`` bridges.
    case tooMany
}
