import Foundation
import PushProtocol

/// Builds a payload from a request's members, or takes the one it brings; either way it is checked (reference 3).
struct PayloadBuilder {
    /// Longest text of an alert, in bytes: more than any payload may have, so that the payload's own limit answers.
    private static let maximumText = 8192

    private let fields: JSONFields

    init(_ fields: JSONFields) {
        self.fields = fields
    }

    /// - Throws: ``APIRefusal`` that names the member at fault.
    func payload(for type: PushType) throws(APIRefusal) -> Data {
        let raw = try self.raw()
        let object = if let raw { raw } else { try self.built(for: type) }
        try self.check(object["aps"], type: type)
        guard let text = try? JSONValue.object(object).text else {
            throw self.fields.refusal(self.source, "invalid_value", "the payload cannot be written as JSON")
        }
        guard text.count <= type.maximumPayloadSize else {
            let limit = type.maximumPayloadSize
            throw self.fields.refusal(
                self.source,
                "payload_too_large",
                "the payload has \(text.count) bytes, \(type.rawValue) allows \(limit)"
            )
        }
        return text
    }

    private var source: String { self.fields.members["payload"] == nil ? "alert" : "payload" }

    private func raw() throws(APIRefusal) -> [String: JSONValue]? {
        guard let payload = try self.fields.object("payload") else { return nil }
        for name in ["alert", "badge", "sound", "data"] where self.fields.members[name] != nil {
            throw self.fields.refusal(name, "conflicting_field", "payload is the whole payload: leave this out")
        }
        return payload
    }

    private func built(for type: PushType) throws(APIRefusal) -> [String: JSONValue] {
        var aps: [String: JSONValue] = [:]
        aps["alert"] = try self.alert()
        aps["badge"] = try self.fields.integer("badge", in: 0...Int64(Int32.max)).map(JSONValue.integer)
        aps["sound"] = try self.fields.string("sound", maximum: 256).map(JSONValue.string)
        if type == .background { aps["content-available"] = .integer(1) }
        var object = try self.fields.object("data") ?? [:]
        guard object["aps"] == nil else {
            throw self.fields.refusal("data.aps", "reserved_field", "aps is made from alert, badge and sound")
        }
        guard !aps.isEmpty || !object.isEmpty else {
            throw self.fields.refusal("alert", "missing_content", "give alert, badge, sound, data or payload")
        }
        if !aps.isEmpty { object["aps"] = .object(aps) }
        return object
    }

    private func alert() throws(APIRefusal) -> JSONValue? {
        if case .string? = self.fields.members["alert"] {
            return try self.fields.string("alert", maximum: Self.maximumText).map(JSONValue.string)
        }
        let known: Set<String> = ["title", "subtitle", "body"]
        guard let alert = try self.fields.fields("alert", known: known) else { return nil }
        var object: [String: JSONValue] = [:]
        for name in known.sorted() {
            object[name] = try alert.string(name, maximum: Self.maximumText).map(JSONValue.string)
        }
        guard !object.isEmpty else {
            throw self.fields.refusal("alert", "missing_content", "give title, subtitle or body")
        }
        return .object(object)
    }

    private func check(_ aps: JSONValue?, type: PushType) throws(APIRefusal) {
        let field = self.fields.members["payload"] == nil ? "alert" : "payload.aps"
        var members: [String: JSONValue] = [:]
        switch aps {
        case nil: break
        case .object(let object): members = object
        default: throw self.fields.wrongType(field, "an object")
        }
        let isVisible = members["alert"] != nil || members["badge"] != nil || members["sound"] != nil
        switch type {
        case .alert where !isVisible:
            throw self.fields.refusal(field, "not_visible", "an alert push has alert, badge or sound in aps")
        case .background where isVisible || members["content-available"] != .integer(1):
            throw self.fields.refusal(
                field,
                "not_background",
                "a background push has content-available 1 and no alert, badge or sound"
            )
        default: break
        }
    }
}
