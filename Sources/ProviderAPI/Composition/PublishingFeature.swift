import ProviderModel
import PushHTTP
import PushProvider
import PushSupport
import ServiceLifecycle

/// The feature for issues of publications: the folder of files, their uploads and downloads, and entitlement.
struct PublishingFeature: ProviderFeature {
    let cleaner: FileCleaner
    let files: FileMonitor
    let downloads: DownloadMonitor
    let notifier: IssueNotifier
    let controllers: [any Controller<APIScope>]
    var services: [any Service] { [self.files] }

    init(_ core: ProviderCore, _ sending: SendingComponents) {
        let (configuration, store) = (core.configuration, core.store)
        let (settings, folder) = (configuration.publishing, FileFolder(path: configuration.filesPath))
        self.cleaner = FileCleaner(store: store, folder: folder, settings: settings, logger: core.logger)
        self.files = FileMonitor(store: store, folder: folder, logger: core.logger)
        self.downloads = DownloadMonitor(
            settings: settings,
            places: core.budgets[.downloads],
            factory: core.metrics,
            time: core.time
        )
        let checker = EntitlementChecker(
            store: store,
            settings: configuration.entitlement,
            addresses: configuration.webhookAddresses,
            resolver: core.resolver,
            questions: core.budgets[.entitlementQuestions],
            wrong: core.budgets[.wrongSecrets],
            lines: core.budgets[.logLines],
            time: core.time,
            logger: core.logger
        )
        self.notifier = IssueNotifier(store: store, acceptor: sending.acceptor, entitlements: checker, time: core.time)
        let addresses = FileAddresses(store: store, settings: settings, time: core.time)
        self.controllers =
            Self.authors(core, sending, folder, checker) + [
                CatalogueController(store: store, entitlements: checker, addresses: addresses),
                NotifyController(
                    store: store,
                    notifier: self.notifier,
                    downloads: self.downloads,
                    waits: core.waits,
                    time: core.time
                ),
                FilesController(
                    store: store,
                    folder: folder,
                    addresses: addresses,
                    downloads: self.downloads,
                    connections: core.connections,
                    files: self.files,
                    logger: core.logger
                ),
            ]
    }

    private static func authors(
        _ core: ProviderCore,
        _ sending: SendingComponents,
        _ folder: FileFolder,
        _ checker: EntitlementChecker
    ) -> [any Controller<APIScope>] {
        let (store, time, settings) = (core.store, core.time, core.configuration.publishing)
        let uploads = UploadService(
            store: store,
            folder: folder,
            settings: settings,
            budgets: core.budgets,
            time: time,
            logger: core.logger
        )
        return [
            PublicationsController(store: store, time: time),
            IssuesController(store: store, folder: folder, wakes: core.wakes, direct: sending.direct, time: time),
            UploadsController(store: store, uploads: uploads, maximumFile: settings.maximumFile, time: time),
            EntitlementController(
                store: store,
                addresses: core.configuration.webhookAddresses,
                checker: checker,
                time: time
            ),
        ]
    }
}
