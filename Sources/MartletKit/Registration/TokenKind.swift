/// The use for which the system issued a token.
///
/// An app has a token for each kind, and a push goes to tokens of its kind only. A kind without a constant here can be
/// created from its name in the provider's API.
public struct TokenKind: RawRepresentable, Hashable, Sendable {
    /// The kind's name in the API, followed by a space and the id of the Live Activity for an update token.
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    /// A token for alerts, badges, sounds and background updates.
    public static let alert = TokenKind(rawValue: "alert")
    public static let voip = TokenKind(rawValue: "voip")
    public static let complication = TokenKind(rawValue: "complication")
    public static let fileProvider = TokenKind(rawValue: "fileProvider")
    public static let location = TokenKind(rawValue: "location")
    public static let pushToTalk = TokenKind(rawValue: "pushToTalk")
    /// A token for starting Live Activities.
    public static let liveActivityStart = TokenKind(rawValue: "liveActivityStart")
    public static let widgets = TokenKind(rawValue: "widgets")
    public static let controls = TokenKind(rawValue: "controls")

    /// A token for updating and ending one Live Activity, by the id that the app gives it, such as `order-42`.
    public static func liveActivityUpdate(activity: String) -> TokenKind {
        TokenKind(rawValue: "liveActivityUpdate \(activity)")
    }

    /// The kind's name in the provider's API.
    var name: String { String(self.rawValue.prefix { $0 != " " }) }

    /// The id of the Live Activity of an update token, or `nil` for other kinds.
    var activity: String? {
        self.rawValue.firstIndex(of: " ").map { String(self.rawValue[self.rawValue.index(after: $0)...]) }
    }

    /// The key under which an installation keeps its token of this kind.
    var place: String { self.rawValue }

    /// `true` for a kind that a registration can contain.
    var isValid: Bool {
        (1...64).contains(self.name.utf8.count) && self.name.utf8.allSatisfy(\.isName)
            && self.activity.map { (1...255).contains($0.utf8.count) } ?? true
    }
}
