package import Foundation
package import PushSupport
package import PushTypes

/// The protocol of another system that a bridge translates into notifications. Each bridge declares its own.
package struct BridgeKind: RawRepresentable, Hashable, Sendable {
    /// The Matrix push gateway API. The name of a bridge is the `app_id`, or a pattern with `*` and `?`.
    package static let matrix = BridgeKind("matrix")
    /// The legacy binary interface for old providers. The name is the topic.
    package static let binary = BridgeKind("binary")

    /// The name of the kind, in lower case.
    package let rawValue: String

    package init(_ name: String) { self.rawValue = name }

    /// Reads the name of a kind; `nil` for a text that is not a valid name.
    package init?(rawValue: String) {
        guard !rawValue.isEmpty, rawValue.utf8.allSatisfy({ (0x61...0x7a).contains($0) }) else { return nil }
        self.rawValue = rawValue
    }
}

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
    /// The environment of the bridge's pushes; `nil` for the environment of each device.
    package var environment: PushEnvironment?
    /// The settings that are specific to the kind, as a JSON object.
    package var settings: JSONValue
    /// The secret shared with the other system; empty for none. The store seals it with the master key.
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

    /// Returns the length of an app's bundle id if the name of a Matrix bridge begins with it; otherwise 0. Of two
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

/// A bridge that another app overrules, because the bridge's name begins with the bundle id of that app. The bridge was
/// set before that app was added, or by an earlier version.
///
/// A binary bridge loses all its pushes, and a Matrix bridge those that also match a bridge of the other app.
package struct OverruledBridge: Hashable, Sendable {
    package var kind: BridgeKind
    package var name: String
    /// The number of the app that has the bridge.
    package var app: Int64
    package var bundleID: Topic
    /// The bundle id of the app that overrules the bridge.
    package var owner: Topic

    package init(kind: BridgeKind, name: String, app: Int64, bundleID: Topic, owner: Topic) {
        (self.kind, self.name, self.app, self.bundleID, self.owner) = (kind, name, app, bundleID, owner)
    }
}

/// The result of setting a bridge.
package enum BridgeChangeResult: Hashable, Sendable {
    /// The bridge is stored. `displaced` is the other app whose bridge it has replaced; `nil` if it has replaced none.
    case done(BridgeRecord, displaced: Topic?)
    /// Nothing is changed: the name belongs to another app's bridge.
    case nameTaken
    /// Nothing is added: some app ids that this Matrix bridge matches belong to another app, by its bundle id or by a
    /// bridge.
    case nameOverlaps
    /// Nothing is changed: the name of this binary bridge is a topic of another app.
    case topicTaken
    /// Nothing is added: the app has ``BridgeRecord/maximumOfApp`` bridges.
    case tooMany
}

/// The bridge through which a notification arrived.
package struct NotificationOrigin: Hashable, Sendable, CustomStringConvertible {
    package var kind: BridgeKind
    /// The name of the bridge.
    package var bridge: String

    package init(_ kind: BridgeKind, bridge: String) { (self.kind, self.bridge) = (kind, bridge) }

    /// Reads the text of an origin; `nil` for any other text.
    package init?(_ text: String) {
        let parts = text.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, let kind = BridgeKind(rawValue: String(parts[0])) else { return nil }
        self.init(kind, bridge: String(parts[1]))
    }

    /// The kind and the name, such as `matrix com.example.MyApp.ios.prod`.
    package var description: String { "\(self.kind.rawValue) \(self.bridge)" }
}

/// An entry for the feedback list of an old provider: a token that the push service has called invalid.
package struct LegacyToken: Hashable, Sendable {
    package var token: DeviceToken
    /// The time from which the token is invalid, according to the push service.
    package var since: Timestamp

    package init(token: DeviceToken, since: Timestamp) { (self.token, self.since) = (token, since) }
}

/// A token that a request named without registering it, and that a response has proven invalid. It is stored for the
/// bridge through which the notification arrived.
package struct InvalidNamedToken: Hashable, Sendable {
    package var token: DeviceToken
    package var environment: PushEnvironment
    /// The time from which the token is invalid, according to the push service.
    package var since: Timestamp
    /// `true` if the push service called the token unregistered, which the feedback list reports; `false` if it called
    /// the token bad.
    package var isUnregistered: Bool

    package init(token: DeviceToken, environment: PushEnvironment, since: Timestamp, isUnregistered: Bool) {
        (self.token, self.environment) = (token, environment)
        (self.since, self.isUnregistered) = (since, isUnregistered)
    }
}

/// A push that arrived through the legacy bridge. It is compared with later ones to recognize repetitions.
package struct LegacyPush: Hashable, Sendable {
    package var app: Int64
    package var token: DeviceToken
    package var payload: Data
    /// The value of the header `apns-expiration`; `nil` for a push without it.
    package var expiration: String?

    package init(app: Int64, token: DeviceToken, payload: Data, expiration: String? = nil) {
        (self.app, self.token, self.payload, self.expiration) = (app, token, payload, expiration)
    }
}

/// The comparison of the bridge's result for one request with the response of the old server, which it is to replace.
package struct ShadowComparison: Hashable, Sendable {
    /// The maximum number of differences of one request that are kept. Further ones are only counted.
    package static let maximumDifferences = 100

    /// The differences, one for each field; empty if the bridge and the old server agree.
    package var differences: [ShadowDifference] = []

    package init() {}
}

/// A difference between the result of a bridge and the response of the old server. It contains nothing of a
/// notification's content.
package struct ShadowDifference: Hashable, Sendable {
    /// The maximum length of ``ours`` and ``theirs``, in bytes; the rest is cut off.
    package static let maximumText = 120

    /// The time of the request.
    package var at: Timestamp
    /// The part of the response that differs, such as `status`, `counts`, `token` or `notification`.
    package var subject: String
    /// The beginning of the token, or the member of the request at fault; `nil` for the whole request.
    package var field: String?
    /// The result of the bridge: a reason or a number.
    package var ours: String
    /// The result of the old server: a reason or a number.
    package var theirs: String

    package init(at: Timestamp, subject: String, field: String? = nil, ours: String, theirs: String) {
        (self.at, self.subject, self.field, self.ours, self.theirs) = (at, subject, field, ours, theirs)
    }
}

/// The report of a bridge in shadow mode, which sends no pushes and compares its results with the old server's
/// responses.
package struct ShadowReport: Hashable, Sendable {
    /// The maximum number of differences that are kept for a bridge; the newest replace the oldest.
    package static let maximumDifferences = 1000

    /// The time of the first request that was compared.
    package var since: Timestamp
    package var requests: Int
    /// The number of requests without any difference.
    package var agreements: Int
    /// The most recent differences, newest first.
    package var differences: [ShadowDifference]

    package init(since: Timestamp, requests: Int, agreements: Int, differences: [ShadowDifference]) {
        (self.since, self.requests, self.agreements) = (since, requests, agreements)
        self.differences = differences
    }
}
