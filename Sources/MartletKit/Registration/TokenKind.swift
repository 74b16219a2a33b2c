/// The use for which the system issued a token. An app has a token for each kind, and a push is sent only to tokens of
/// its kind. A kind without a constant here can be created from its name in the provider's API.
public struct TokenKind: RawRepresentable, Hashable, Sendable {
    /// The kind's name in the API. For an update token, a space and the id of the Live Activity follow.
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    /// The kind of a token for alerts, badges, sounds and background updates.
    public static let alert = TokenKind(rawValue: "alert")
    public static let voip = TokenKind(rawValue: "voip")
    public static let complication = TokenKind(rawValue: "complication")
    public static let fileProvider = TokenKind(rawValue: "fileProvider")
    public static let location = TokenKind(rawValue: "location")
    public static let pushToTalk = TokenKind(rawValue: "pushToTalk")
    /// The kind of a token for starting Live Activities.
    public static let liveActivityStart = TokenKind(rawValue: "liveActivityStart")
    public static let widgets = TokenKind(rawValue: "widgets")
    public static let controls = TokenKind(rawValue: "controls")

    /// Returns the kind of a token for updating and ending one Live Activity, with the id that the app gives it, such
    /// as `order-42`.
    public static func liveActivityUpdate(activity: String) -> TokenKind {
        TokenKind(rawValue: "liveActivityUpdate \(activity)")
    }

    var name: String { String(self.rawValue.prefix { $0 != " " }) }

    /// The id of the Live Activity of an update token, or `nil` for other kinds.
    var activity: String? {
        self.rawValue.firstIndex(of: " ").map { String(self.rawValue[self.rawValue.index(after: $0)...]) }
    }

    /// The key under which an installation keeps its token of this kind.
    var place: String { self.rawValue }

    /// A Boolean value that indicates whether a registration can contain the kind, because its names have permitted
    /// lengths.
    var isValid: Bool {
        (1...64).contains(self.name.utf8.count) && self.name.utf8.allSatisfy(\.isName)
            && self.activity.map { (1...255).contains($0.utf8.count) } ?? true
    }
}
