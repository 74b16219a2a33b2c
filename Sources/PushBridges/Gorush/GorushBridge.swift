import PushHTTP
import PushStore
import PushSupport
import PushTypes

/// The settings of a bridge that speaks gorush's REST API.
struct GorushSettings: BridgeSettings, Hashable {
    static let kind = BridgeKind.gorush
    static let members: Set = ["sync", "maxNotifications", "feedbackHook", "shadow"]

    /// The name of an app's bridge for requests whose path names no bridge.
    static let standardName = "default"
    /// The range of ``maximumNotifications``.
    private static let notifications: ClosedRange<Int64> = 1...1000

    /// Indicates whether a response waits until all outcomes are known, and lists the failures. Default `false`.
    let isSynchronous: Bool
    /// The maximum number of notifications in a request.
    let maximumNotifications: Int
    /// The URL to which each failure is posted, or `nil` for none.
    let feedbackHook: String?
    /// The settings of shadow mode, or `nil` for a bridge that sends.
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
