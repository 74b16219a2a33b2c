import PushSupport

/// Maps members of the payload to the members of the request that they came from, so that an error can name them.
struct FieldNames {
    /// A Boolean value that indicates whether the request gives the whole payload in its member `payload`.
    let isRaw: Bool
    /// The locale as the caller wrote it, or `nil` for the default payload.
    let locale: String?
    /// A Boolean value that indicates whether the payload comes from the member `web` of the request.
    var isWeb = false

    /// Returns the path of the member of the request from which a member of the payload came.
    /// - Parameter path: The path from the root of the payload, with indices of arrays written as `[3]`.
    func name(_ path: [String]) -> String {
        let start = self.locale.map { ["localizations", $0] } ?? []
        if self.isWeb { return Self.joined(start + [WebContent.member] + path) }
        return Self.joined(start + (self.isRaw ? ["payload"] + path : Self.typed(path)))
    }

    /// The member of the request that is named in an error about the whole payload.
    var whole: String {
        switch (self.locale, self.isRaw) {
        case (let locale?, _): "localizations.\(locale)"
        case (nil, _) where self.isWeb: WebContent.member
        case (nil, let isRaw): isRaw ? "payload" : "alert"
        }
    }

    private static func typed(_ path: [String]) -> [String] {
        guard let first = path.first else { return ["alert"] }
        let rest = Array(path.dropFirst())
        switch first {
        case "aps": return Self.aps(rest)
        case "container-identifier": return ["fileProvider", "containerIdentifier"]
        case "mdm": return ["mdm", "pushMagic"]
        default: return ["data"] + path
        }
    }

    private static func aps(_ path: [String]) -> [String] {
        guard let first = path.first else { return ["alert"] }
        let rest = Array(path.dropFirst())
        switch first {
        case "alert" where rest.first == "sound": return rest
        case "alert", "sound": return [first] + rest.map(Self.camelCase)
        case "ptt-push-type": return ["pushToTalk"]
        case _ where LiveActivityBuilder.keys.contains(first): return ["liveActivity", Self.camelCase(first)] + rest
        default: return [Self.camelCase(first)] + rest
        }
    }

    private static func joined(_ path: [String]) -> String {
        path.reduce("") { $0.isEmpty ? $1 : $1.hasPrefix("[") ? $0 + $1 : "\($0).\($1)" }
    }

    static func camelCase(_ name: String) -> String {
        let words = name.split(separator: "-", omittingEmptySubsequences: false)
        return words.dropFirst().reduce(words.first.map(String.init) ?? "") {
            $0 + $1.prefix(1).uppercased() + $1.dropFirst()
        }
    }
}

/// A key of the payload, and the member of the request that gives its value.
struct PayloadMember<Value>: RequestMemberProtocol {
    let key: String
    let member: RequestMember<Value>

    var name: String { self.member.name }
    var schema: Schema { self.member.schema }
    var members: [any RequestMemberProtocol] { self.member.members }

    func check(_ fields: JSONFields) throws(RequestError) { try self.member.check(fields) }

    /// Creates the pair for a key of the payload. The member of the request has the key in camel case as its name.
    /// - Parameter make: A function that creates the member of the request from its name.
    init(_ key: String, _ make: (String) -> RequestMember<Value>) {
        (self.key, self.member) = (key, make(FieldNames.camelCase(key)))
    }
}
