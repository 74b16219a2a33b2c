import Hummingbird
import ProviderAPI
import ProviderModel
import PushHTTP
import PushSupport
import PushTypes
import ServiceLifecycle

extension BridgeKind {
    /// The kind of bridge that speaks gorush's REST API. A bridge's name is the topic of its pushes, or `default`.
    static let gorush = BridgeKind("gorush")
}

/// The bridge for clients of gorush, an open-source push server.
struct GorushBridge: BridgeFeature {
    static let kind = BridgeKind.gorush
    static let settings: (any BridgeSettings.Type)? = GorushSettings.self
    static let hasSecretInURL = true

    private let routes: GorushRoutes

    init(_ components: BridgeComponents) {
        let (provider, submission) = (components.provider, components.submission)
        let statistics = GorushStatistics()
        self.routes = GorushRoutes(
            access: components.authenticator,
            sender: GorushSender(submission: submission, table: BridgeTable(Self.kind, store: provider.store)),
            statistics: statistics,
            follower: GorushFollower(
                submission,
                statistics,
                client: components.settingsClient,
                budgets: provider.budgets,
                logger: provider.logger
            ),
            shadow: components.shadow
        )
    }

    var services: [any Service] { [self.routes.follower] }

    func addRoutes(to router: Router<APIContext>) { self.routes.addRoutes(to: router) }
}

struct GorushSettings: BridgeSettings, Hashable {
    /// The name of an app's bridge that serves requests whose path names no bridge.
    static let standardName = "default"

    private enum Members {
        static let sync = Member.bool("sync")
            .described("Waits until all outcomes are known, and lists the failures. Default false.")
        static let maxNotifications = Member.integer("maxNotifications", 1...1000)
            .described("The maximum of notifications in a request. Default \(GorushRequest.standardNotifications).")
        static let feedbackHook = BridgeURL.member("feedbackHook")
            .described("The URL to which each failure is posted.")
    }

    static let object = RequestObject(
        optional: [Members.sync, Members.maxNotifications, Members.feedbackHook, ShadowSettings.member]
    )

    /// A Boolean value that indicates whether a response waits for all outcomes and lists the failures. Default
    /// `false`.
    let isSynchronous: Bool
    /// The maximum number of notifications in a request. A request with more is rejected.
    let maximumNotifications: Int
    /// The URL to which a request reports each failure, or `nil` if failures are not reported.
    let feedbackHook: String?
    /// The settings of shadow mode (``ShadowForwarder``), in which the bridge sends no pushes, or `nil` in normal mode.
    let shadow: ShadowSettings?

    init(_ fields: JSONFields) throws(RequestError) {
        self.isSynchronous = try fields.value(Members.sync) ?? false
        self.maximumNotifications =
            try fields.value(Members.maxNotifications).map(Int.init) ?? GorushRequest.standardNotifications
        self.feedbackHook = try fields.value(Members.feedbackHook)
        self.shadow = try fields.value(ShadowSettings.member)
    }

    static func check(name: String) throws(RequestError) {
        guard name == Self.standardName || Topic(name) != nil else {
            throw RequestError.invalid("bridge", "a gorush bridge is named default, or by a bundle id")
        }
    }
}
