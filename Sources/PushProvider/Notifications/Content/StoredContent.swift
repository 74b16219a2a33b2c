import Foundation
import PushSupport

/// A notification's text with everything that rendering needs, as the store keeps it:
/// `{"badge":{"increment":1},"localizations":{"de":{…}},"payload":{…},"variables":true,"version":1}`.
///
/// `payload` is the whole payload for devices of other locales, each of `localizations` a whole payload too. Where
/// nothing depends on the device, the payload alone is stored.
struct StoredContent: Hashable {
    /// The text is none of ours.
    struct Damage: Error, Hashable {}

    private static let version: Int64 = 1

    var payload: [String: JSONValue]
    /// By ``LocaleTag/name``.
    var localizations: [String: [String: JSONValue]] = [:]
    /// Whether `{{…}}` in strings stands for something.
    var hasVariables = false
    /// `aps.badge` is put in for each device.
    var badge: BadgeChange?

    /// Whether the payload depends on the device.
    var isTemplate: Bool { self.hasVariables || !self.localizations.isEmpty || self.badge != nil }

    /// Canonical: equal content gives equal bytes.
    var text: Data {
        get throws {
            guard self.isTemplate else { return try JSONValue.object(self.payload).text }
            var members: [String: JSONValue] = ["version": .integer(Self.version), "payload": .object(self.payload)]
            if self.hasVariables { members["variables"] = .bool(true) }
            if !self.localizations.isEmpty {
                members["localizations"] = .object(self.localizations.mapValues(JSONValue.object))
            }
            if let badge = self.badge { members["badge"] = .object(["increment": .integer(Int64(badge.increment))]) }
            return try JSONValue.object(members).text
        }
    }

    init(payload: [String: JSONValue]) {
        self.payload = payload
    }

    /// Reads what ``text`` wrote.
    init(parsing text: Data) throws(Damage) {
        guard case .object(let members)? = try? JSONValue(parsing: text), members["version"] == .integer(Self.version),
            case .object(let payload)? = members["payload"]
        else { throw Damage() }
        self.payload = payload
        self.hasVariables = members["variables"] == .bool(true)
        switch members["localizations"] {
        case nil: break
        case .object(let localizations):
            for (locale, value) in localizations {
                guard case .object(let payload) = value else { throw Damage() }
                self.localizations[locale] = payload
            }
        default: throw Damage()
        }
        switch members["badge"] {
        case nil: break
        case .object(let badge):
            guard case .integer(let increment)? = badge["increment"], let change = BadgeChange(increment: increment)
            else { throw Damage() }
            self.badge = change
        default: throw Damage()
        }
    }
}
