import PushHTTP
import PushStore
import PushSupport
import PushTypes

/// The settings of a bridge that speaks gorush's REST API.
struct GorushSettings: BridgeSettings, Hashable {
    static let kind = BridgeKind.gorush
    static let members: Set = ["sync", "maxNotifications", "feedbackHook", "shadow"]

    /// The name of the bridge of an app that requests without a name in their path reach.
    static let standardName = "default"
    /// The numbers of notifications of a request that can be set.
    private static let notifications: ClosedRange<Int64> = 1...1000

    /// `true` answers when all outcomes are known, and with the failures. Default `false`.
    let isSynchronous: Bool
    /// The most notifications of a request.
    let maximumNotifications: Int
    /// The URL to which each failure is posted; `nil` for none.
    let feedbackHook: String?
    /// `nil` for a bridge that sends.
    let shadow: ShadowSettings?

    init(_ fields: JSONFields) throws(RequestError) {
        self.isSynchronous = try fields.bool("sync") ?? false
        self.maximumNotifications =
            try fields.integer("maxNotifications", in: Self.notifications).map(Int.init)
            ?? GorushRequest.standardNotifications
        self.feedbackHook = try BridgeURL.read("feedbackHook", in: fields)
        self.shadow = try ShadowSettings(fields)
    }

    static func check(name: String) throws(RequestError) {
        guard name == Self.standardName || Topic(name) != nil else {
            throw RequestError.invalid("bridge", "a gorush bridge is named default, or by a bundle id")
        }
    }
}
