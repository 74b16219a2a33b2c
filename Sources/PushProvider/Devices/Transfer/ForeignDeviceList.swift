import Foundation
import ProviderModel
import PushSupport
import PushTypes

/// A push server whose list of devices can be imported.
package enum ForeignDeviceList: String, CaseIterable, Hashable, Sendable {
    /// The file that the importer of the AeroGear UnifiedPush Server reads: a JSON array.
    case aerogear
    /// A JSON export of the class `_Installation` of Parse Server.
    case parse
    /// The CSV file of OneSignal's export.
    case onesignal
    /// A table of a back end that sends through gorush, in CSV or JSON: gorush itself stores no devices.
    case gorush
}

/// A record from another server's device list, keyed by the names of its members or columns.
struct ForeignDevice {
    private let members: [String: JSONValue]
    private let defaults: ImportDefaults

    /// Creates a record from its members. The members of a CSV row are strings, and its empty cells are left out.
    init(_ members: [String: JSONValue], _ defaults: ImportDefaults) {
        (self.members, self.defaults) = (members, defaults)
    }

    /// Returns the members of a Martlet registration.
    /// - Throws: ``RequestError`` for a record of another platform or app, and for a token that is missing or inactive.
    func registration(_ list: ForeignDeviceList) throws(RequestError) -> [String: JSONValue] {
        var registration: [String: JSONValue]
        switch list {
        case .aerogear: registration = try self.aerogear()
        case .parse: registration = try self.parse()
        case .onesignal: registration = try self.oneSignal()
        case .gorush: registration = try self.gorush()
        }
        if registration["environment"] == nil {
            registration["environment"] = .string(self.defaults.environment.rawValue)
        }
        return registration
    }

    // MARK: The servers

    private func aerogear() throws(RequestError) -> [String: JSONValue] {
        let system = self.text("operatingSystem")?.lowercased() ?? "ios"
        try self.check(["ios", "ipados", "iphone"].contains { system.hasPrefix($0) }, "operatingSystem")
        try self.checkIsActive(self.members["enabled"] != .bool(false), "enabled")
        // Tokens of this server may have spaces and hyphens between the digits.
        let token = try self.token("deviceToken").filter { !" -".contains($0) }
        return .compact([
            "token": .string(token), "user": self.copy("alias"), "tags": self.list("categories"),
            "attributes": self.attributes(["deviceType": "deviceType", "osVersion": "osVersion"]),
        ])
    }

    private func parse() throws(RequestError) -> [String: JSONValue] {
        try self.check(self.text("deviceType").map { $0.lowercased() == "ios" } ?? true, "deviceType")
        if let app = self.text("appIdentifier"), let own = self.defaults.bundleID, app != own.name {
            throw Self.error("other_app", "it belongs to another app", "appIdentifier")
        }
        let pointer = self.members["user"].flatMap { $0["objectId"].stringValue }
        let stored = self.text("_p_user").flatMap { $0.split(separator: "$").last.map(String.init) }
        return .compact([
            "token": .string(try self.token("deviceToken")), "installation": self.installation("installationId"),
            "user": (pointer ?? stored).map { .string($0) }, "tags": self.list("channels"),
            "timeZone": self.timeZone("timeZone"), "locale": self.locale("localeIdentifier"),
            "appVersion": self.version("appVersion"),
        ])
    }

    private func oneSignal() throws(RequestError) -> [String: JSONValue] {
        try self.check(self.text("device_type").map { ["0", "ios"].contains($0.lowercased()) } ?? true, "device_type")
        let isInvalid = ["t", "true", "1"].contains(self.text("invalid_identifier")?.lowercased())
        try self.checkIsActive(!isInvalid, "invalid_identifier")
        var attributes: JSONValue?
        if let text = self.text("tags"), let tags = try? JSONValue(parsing: Data(text.utf8)), case .object = tags {
            attributes = tags
        }
        return .compact([
            "token": .string(try self.token("identifier")), "installation": self.installation("id"),
            "user": self.copy("external_user_id"), "locale": self.locale("language"),
            "timeZone": self.timeZone("timezone_id"), "appVersion": self.version("game_version"),
            "attributes": attributes, "environment": self.text("test_type") == "1" ? .string("sandbox") : nil,
        ])
    }

    private func gorush() throws(RequestError) -> [String: JSONValue] {
        try self.check(self.text("platform").map { ["1", "ios"].contains($0.lowercased()) } ?? true, "platform")
        if let topic = self.text("topic").flatMap({ Topic($0) }), let own = self.defaults.bundleID,
            topic.bundleID != own
        {
            throw Self.error("other_app", "it belongs to another app", "topic")
        }
        let name = ["token", "device_token", "push_token"].first { self.members[$0] != nil } ?? "token"
        let users = ["user", "user_id", "userId"].lazy.compactMap { self.copy($0) }
        var environment = self.copy("environment")
        if ["true", "1", "t"].contains(self.text("production")?.lowercased()) { environment = .string("production") }
        if ["true", "1", "t"].contains(self.text("development")?.lowercased()) { environment = .string("sandbox") }
        return .compact([
            "token": .string(try self.token(name)), "user": users.first, "locale": self.locale("locale"),
            "timeZone": self.timeZone("timezone"), "environment": environment,
        ])
    }

    // MARK: Members

    /// Returns a member as a string, or `nil` if it is absent, empty, an object or an array.
    private func text(_ name: String) -> String? {
        switch self.members[name] {
        case .string(let text)?: text.isEmpty ? nil : text
        case .integer(let number)?: String(number)
        case .bool(let flag)?: String(flag)
        default: nil
        }
    }

    private func copy(_ name: String) -> JSONValue? { self.text(name).map { .string($0) } }

    private func token(_ name: String) throws(RequestError) -> String {
        guard let text = self.text(name) else { throw Self.error("missing_field", "it has no token", name) }
        return text
    }

    /// Returns the non-empty strings of an array member, or `nil` if there are none.
    private func list(_ name: String) -> JSONValue? {
        let texts = self.members[name]?.elements.filter { ($0.stringValue ?? "") != "" } ?? []
        return texts.isEmpty ? nil : .array(texts)
    }

    /// Returns the attributes whose values are taken from members. Attributes with absent members are omitted.
    private func attributes(_ names: [String: String]) -> JSONValue? {
        let attributes = names.compactMapValues { self.copy($0) }
        return attributes.isEmpty ? nil : .object(attributes)
    }

    /// Returns an installation's id, or `nil` if it is shorter than 8 bytes, Martlet's minimum.
    private func installation(_ name: String) -> JSONValue? {
        self.text(name).flatMap { $0.utf8.count >= 8 ? .string($0) : nil }
    }

    /// Returns a time zone, or `nil` for one that is not known here, so that the device is imported without it.
    private func timeZone(_ name: String) -> JSONValue? {
        self.text(name).flatMap { TimeZone(named: $0) == nil ? nil : .string($0) }
    }

    private func locale(_ name: String) -> JSONValue? {
        self.text(name).flatMap { LocaleTag.isName($0) ? .string($0) : nil }
    }

    private func version(_ name: String) -> JSONValue? {
        self.text(name).flatMap { AppVersion($0) == nil ? nil : .string($0) }
    }

    private func check(_ isOfPlatform: Bool, _ name: String) throws(RequestError) {
        guard isOfPlatform else { throw Self.error("other_platform", "it is no token of Apple's push service", name) }
    }

    private func checkIsActive(_ isActive: Bool, _ name: String) throws(RequestError) {
        guard isActive else { throw Self.error("inactive", "the other server sends nothing to it", name) }
    }

    private static func error(_ code: String, _ message: String, _ name: String) -> RequestError {
        RequestError(.invalid, code: code, message: message, path: name)
    }
}

extension [String: JSONValue] {
    fileprivate static func compact(_ members: [String: JSONValue?]) -> [String: JSONValue] {
        members.compactMapValues { $0 }
    }
}
