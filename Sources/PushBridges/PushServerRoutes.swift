import Hummingbird
import ProviderAPI
import PushHTTP
import PushProvider
import PushStore
import PushSupport
import ServiceLifecycle

/// The routes for clients of other push servers: gorush's and FCM's.
struct PushServerRoutes: Sendable {
    private let gorush: GorushRoutes
    private let fcm: FCMRoutes
    private let topics: FCMTopicRoutes

    /// - Parameter client: The client for posts to feedback hooks and for requests to old servers.
    init(_ parts: ProviderComponents, client: RestrictedHTTPClient) {
        let log = RateLimitedLog(parts.logger, parts.budgets[.logLines])
        let access = BridgeAuthenticator(runner: parts.runner, budgets: parts.budgets, log: log)
        let submission = PushSubmission(parts: parts)
        let shadow = ShadowForwarder(
            client: client,
            bytes: parts.budgets[.bodyBytes],
            store: parts.store,
            time: parts.time,
            logger: parts.logger
        )
        let statistics = GorushStatistics()
        self.gorush = GorushRoutes(
            access: access,
            sender: GorushSender(submission: submission, table: BridgeTable(.gorush, store: parts.store)),
            statistics: statistics,
            follower: GorushFollower(
                submission,
                statistics,
                client: client,
                budgets: parts.budgets,
                logger: parts.logger
            ),
            shadow: shadow
        )
        let projects = FCMAccess(
            access: access,
            table: BridgeTable(.fcm, store: parts.store),
            store: parts.store
        )
        let sender = FCMSender(submission: submission)
        self.fcm = FCMRoutes(access: projects, sender: sender, shadow: shadow, time: parts.time)
        self.topics = FCMTopicRoutes(access: projects, sender: sender, store: parts.store, time: parts.time)
    }

    var services: [any Service] { [self.gorush.follower] }

    func addRoutes(to router: Router<APIContext>) {
        self.gorush.addRoutes(to: router)
        self.fcm.addRoutes(to: router)
        self.topics.addRoutes(to: router)
    }
}
