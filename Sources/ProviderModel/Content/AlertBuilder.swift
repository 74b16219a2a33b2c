import PushSupport
import PushTypes

/// Builds `aps.alert` and `aps.sound` from the members of a request (reference 3.2, 3.3).
///
/// A request writes the keys in camel case: `titleLocKey` stands for `title-loc-key`.
struct AlertBuilder {
    /// The maximum length of a text, in bytes. It exceeds every limit on payloads, so that those limits apply.
    static let maximumText = 8192
    private static let maximumArguments = 32

    private static func argumentsMember(_ name: String) -> RequestMember<[String]> {
        Member.texts(name, 0...Self.maximumArguments, maximum: Self.maximumText)
    }

    /// The members of a text that the app looks up in the device's language, for a Live Activity (reference 3.2).
    enum Localized {
        static let key = Member.text("locKey", 1...AlertBuilder.maximumText)
        static let arguments = AlertBuilder.argumentsMember("locArgs")
        static let object = RequestObject(required: [Self.key], optional: [Self.arguments])
    }

    private static let shown = Schema.string(length: 1...Self.maximumText)
    /// The members for texts, each of which may be a ``Localized`` object.
    static let texts = ["title", "subtitle", "body"].map { name in
        Member.text(name, maximum: Self.maximumText, as: .any(of: [Self.shown, Localized.object.schema]))
    }
    private static let strings = [
        "title-loc-key", "subtitle-loc-key", "loc-key", "launch-image", "action-loc-key", "action", "summary-arg",
    ].map { key in PayloadMember(key) { Member.text($0, 1...Self.maximumText) } }
    private static let arguments = ["title-loc-args", "subtitle-loc-args", "loc-args"].map { key in
        PayloadMember(key) { Self.argumentsMember($0) }
    }
    private static let count = PayloadMember("summary-arg-count") { Member.integer($0, 1...100_000) }
    /// The keys of `alert` in a payload (reference 3.2).
    static let keys = Set(Self.texts.map { $0.name }).union(Self.strings.map { $0.key })
        .union(Self.arguments.map { $0.key }).union([Self.count.key])

    static let object = RequestObject(optional: Self.texts, Self.strings, Self.arguments, [Self.count]) {
        $0.withMembers
    }

    /// The member `alert`: a text, or an object instead.
    static let alertMember = Member.text(
        "alert",
        maximum: Self.maximumText,
        as: .any(of: [Self.shown, Self.object.schema])
    )

    enum Sound {
        static let critical = Member.bool("critical")
        static let name = Member.text("name", 1...256)
        static let volume = Member.number("volume", as: .number(from: 0, to: 1))
        static let object = RequestObject(optional: [Self.critical, Self.name, Self.volume])
    }

    /// The member `sound`: the name of a file, or an object instead.
    static let soundMember = Member.text("sound", maximum: 256, as: .any(of: [Sound.name.schema, Sound.object.schema]))

    let fields: JSONFields
    let pushType: PushType

    /// Returns the alert, or `nil` where the request has none.
    func alert() throws(RequestError) -> JSONValue? {
        if case .string? = self.fields.members["alert"] {
            return try self.fields.value(Self.alertMember).map(JSONValue.string)
        }
        guard let alert = try self.fields.fields("alert", known: Self.object.known) else { return nil }
        let object = try self.object(alert)
        guard !object.isEmpty || !alert.nulls.isEmpty
        else { throw self.fields.error("alert", "missing_content", "give title, subtitle or body") }
        return .object(object)
    }

    /// Returns the members of an alert that `fields` has, with the keys of the payload.
    func object(_ fields: JSONFields) throws(RequestError) -> [String: JSONValue] {
        var object: [String: JSONValue] = [:]
        for text in Self.texts { object[text.name] = try self.text(text, fields) }
        for string in Self.strings { object[string.key] = try fields.value(string.member).map(JSONValue.string) }
        for texts in Self.arguments { object[texts.key] = try fields.value(texts.member).map(Self.array) }
        object[Self.count.key] = try fields.value(Self.count.member).map(JSONValue.integer)
        return object
    }

    /// Returns the text of a member. In a Live Activity, it may be ``Localized``.
    private func text(_ member: RequestMember<String>, _ fields: JSONFields) throws(RequestError) -> JSONValue? {
        guard self.pushType == .liveactivity, case .object? = fields.members[member.name],
            let text = try fields.fields(member.name, known: Localized.object.known)
        else { return try fields.value(member).map(JSONValue.string) }
        var object: [String: JSONValue] = [:]
        object["loc-key"] = .string(try text.required(Localized.key))
        object["loc-args"] = try text.value(Localized.arguments).map(Self.array)
        return .object(object)
    }

    private static func array(_ texts: [String]) -> JSONValue { .array(texts.map(JSONValue.string)) }

    /// Returns the sound, the name of a file or `{critical, name, volume}`, or `nil` where the request has none.
    func sound() throws(RequestError) -> JSONValue? {
        guard case .object? = self.fields.members["sound"],
            let sound = try self.fields.fields("sound", known: Sound.object.known)
        else { return try self.fields.value(Self.soundMember).map(JSONValue.string) }
        var object: [String: JSONValue] = [:]
        if try sound.value(Sound.critical) == true { object["critical"] = .integer(1) }
        object["name"] = try sound.value(Sound.name).map(JSONValue.string)
        object["volume"] = try sound.value(Sound.volume)
        guard !object.isEmpty else { throw self.fields.error("sound", "missing_content", "give critical or name") }
        return .object(object)
    }
}
