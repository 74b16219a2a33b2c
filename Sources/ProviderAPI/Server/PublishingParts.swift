import Logging
import Metrics
import PushHTTP
import PushProvider
import PushStore
import PushSupport

/// The parts of a provider that publish: the folder of files, and what receives and sends them.
struct PublishingParts: Sendable {
    let cleaner: FileCleaner
    let files: FileMonitor
    let downloads: DownloadMonitor
    let notifier: IssueNotifier
    let controllers: [any Controller<APIScope>]

    init(
        store: any ProviderStore,
        configuration: ProviderConfiguration,
        acceptor: NotificationAcceptor,
        wakes: LaneWakeSignals,
        direct: DirectDispatch,
        waits: WaveWaits,
        resolver: any NameResolver,
        budgets: Budgets,
        connections: HeldConnections,
        metrics: any MetricsFactory,
        time: any TimeSource,
        logger: Logger
    ) {
        let (settings, folder) = (configuration.publishing, FileFolder(path: configuration.filesPath))
        self.cleaner = FileCleaner(store: store, folder: folder, settings: settings, logger: logger)
        self.files = FileMonitor(store: store, folder: folder, logger: logger)
        self.downloads = DownloadMonitor(
            settings: settings,
            places: budgets[.downloads],
            factory: metrics,
            time: time
        )
        let entitlement = EntitlementChecker(
            store: store,
            settings: configuration.entitlement,
            addresses: configuration.webhookAddresses,
            resolver: resolver,
            questions: budgets[.entitlementQuestions],
            wrong: budgets[.wrongSecrets],
            lines: budgets[.logLines],
            time: time,
            logger: logger
        )
        let entitlements = IssueEntitlements(entitlement)
        self.notifier = IssueNotifier(store: store, acceptor: acceptor, entitlements: entitlements, time: time)
        let uploads = UploadService(
            store: store,
            folder: folder,
            settings: settings,
            budgets: budgets,
            time: time,
            logger: logger
        )
        let addresses = FileAddresses(store: store, settings: settings, time: time)
        self.controllers = [
            PublicationsController(store: store, time: time),
            IssuesController(store: store, folder: folder, wakes: wakes, direct: direct, time: time),
            UploadsController(store: store, uploads: uploads, maximumFile: settings.maximumFile, time: time),
            EntitlementController(
                store: store,
                addresses: configuration.webhookAddresses,
                checker: entitlement,
                time: time
            ),
            CatalogueController(store: store, entitlements: entitlements, addresses: addresses),
            NotifyController(
                store: store,
                notifier: self.notifier,
                downloads: self.downloads,
                waits: waits,
                time: time
            ),
            FilesController(
                store: store,
                folder: folder,
                addresses: addresses,
                downloads: self.downloads,
                connections: connections,
                files: self.files,
                logger: logger
            ),
        ]
    }
}
