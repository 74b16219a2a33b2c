import Hummingbird
import Logging
import PushHTTP
import PushProtocol
import PushProvider
import PushStore

/// The REST API under `/v1`, and `/health`.
package struct API: Sendable {
    let store: any PushStore
    let keys: APIKeys
    let intake: NotificationIntake
    let directory: SenderDirectory
    let hygiene: TokenHygiene
    let compatibility: CompatibilityConfiguration
    let time: any TimeSource
    let logger: Logger

    private struct Health: Encodable {
        var status = "ok"
    }

    var router: Router<APIContext> {
        let router = Router(context: APIContext.self)
        router.add(middleware: RefusalMiddleware(logger: self.logger))
        router.get("health") { _, _ in try JSONAnswer.make(.ok, Health()) }
        let v1 = router.group("v1").add(middleware: Authentication(keys: self.keys))
        AppsController(store: self.store, directory: self.directory, hygiene: self.hygiene, time: self.time)
            .addRoutes(to: v1)
        DevicesController(store: self.store, time: self.time).addRoutes(to: v1)
        NotificationsController(store: self.store, intake: self.intake, time: self.time).addRoutes(to: v1)
        KeysController(store: self.store, keys: self.keys).addRoutes(to: v1)
        DeviceTransferRoutes(store: self.store, time: self.time, logger: self.logger).addRoutes(to: v1)
        CompatibilityRoutes(
            configuration: self.compatibility,
            store: self.store,
            keys: self.keys,
            intake: self.intake,
            time: self.time,
            logger: self.logger
        ).addRoutes(to: router.group())
        router.refuseOtherMethods()
        return router
    }
}
