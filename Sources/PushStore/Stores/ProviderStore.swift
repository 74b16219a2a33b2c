package import PushTypes

/// The complete store of a provider. The writes of a method are on disk when the method returns.
package protocol ProviderStore: AppStore, DeviceStore, NotificationStore, DispatchStore, TokenStateStore, UserStore,
    ScheduleStore, WebhookStore, APIKeyStore, ProviderTokenStore, AuditStore, MaintenanceStore, ClockStore,
    ErasureStore, UserSecretStore, MonitoringStore, EnvironmentStore, ReceiptStore, RetentionStore, TimelineStore,
    LibraryStore, PersonStore, SessionStore, PublishingStore, FileStore, EntitlementServerStore, StatisticsStore,
    BridgeStore, BridgeStateStore, ChannelStore, FeedbackStore, NamedTokenStore, WebPushStore,
    NodeStore
{}

/// The record that owns a row, and that may be removed between its look-up and the insertion of the row.
package enum RowOwner: String, Hashable, Sendable {
    case app, notification
    case pushResource = "push resource"
}

/// An error from opening a store, or from an operation on it.
package enum StoreError: Error, Hashable, Sendable, CustomStringConvertible {
    case cannotOpen(path: String, why: String)
    /// An error for a database that was written by a newer version of Martlet.
    case newerSchema(path: String)
    /// An error for a database that was written by a version before 0.1.0, whose schema no released version can read.
    case unreleasedSchema(path: String, migration: String)
    case badMasterKey(path: String, why: String)
    /// An error for a secret in the store that was sealed with another master key.
    case wrongMasterKey
    /// An error for a missing master key if the database contains secrets that were sealed with one.
    case missingMasterKey(path: String, database: String)
    /// An error for an empty database file beside a master key, because a database has probably been lost.
    case emptyDatabase(path: String, masterKey: String)
    /// An error for a write that is impossible at present, because the disk is full or read-only.
    case cannotWrite(why: String)
    /// An error for a call to a database that cannot be reached, is overloaded, or has become read-only. If a write was
    /// being committed, it may have been done.
    case unavailable(why: String)
    /// The record that a row would belong to was removed after it had been looked up. Nothing was written.
    case ownerRemoved(RowOwner)
    case cannotBackUp(path: String, why: String)
    /// An error for an app that does not exist, so that no key or person can be limited to it.
    case noSuchApp(Topic)
    /// An error for an app that cannot be added yet, because an app with this bundle id is being erased.
    case beingErased(Topic)
    /// An error for a query that was interrupted because it exceeded its time budget.
    case queryTooExpensive(budget: Duration)
    /// An error for a query that truncating checkpoints interrupted too often, because there were many writes.
    case queryInterrupted
    /// An error for a long query while the store is being closed.
    case ending

    /// A Boolean value that indicates whether the same write may succeed later.
    package var isTemporary: Bool {
        switch self {
        case .ownerRemoved: false
        case .cannotWrite, .unavailable, .beingErased, .queryTooExpensive, .queryInterrupted, .ending: true
        // An operator can put an end to these.
        case .cannotOpen, .newerSchema, .unreleasedSchema, .badMasterKey, .wrongMasterKey, .missingMasterKey,
            .emptyDatabase, .cannotBackUp, .noSuchApp:
            true
        }
    }

    package var description: String {
        switch self {
        case .cannotOpen(let path, let why): "the database \(path) cannot be used: \(why)"
        case .emptyDatabase(let path, let masterKey):
            """
            the database \(path) is empty, but \(masterKey) is beside it, so there was one: bring it back with \
            'martlet restore BACKUP --replace', or remove the empty file to begin without it
            """
        case .newerSchema(let path): "the database \(path) was written by a newer version of Martlet"
        case .unreleasedSchema(let path, let migration):
            """
            the database \(path) was written by a version of Martlet before 0.1.0 (its last migration is \
            "\(migration)") and cannot be read: use the version that wrote it, or start with an empty data directory \
            and register apps and devices again
            """
        case .badMasterKey(let path, let why): "the master key \(path) cannot be used: \(why)"
        case .missingMasterKey(let path, let database):
            """
            the master key \(path) is missing, and \(database) holds secrets that only it opens: bring it back, or, if it \
            is lost, remove these secrets with 'martlet reset-secrets'
            """
        case .wrongMasterKey:
            """
            the master key does not fit this database: bring back the one it was made with, or, if that is lost, remove \
            the secrets that it sealed with 'martlet reset-secrets'
            """
        case .cannotBackUp(let path, let why): "the backup \(path) cannot be made: \(why)"
        case .noSuchApp(let app): "there is no app \(app.name): add it first"
        case .beingErased(let app): "the app \(app.name) is being erased: add it again later"
        case .cannotWrite(let why): "the database cannot be written: \(why)"
        case .unavailable(let why): "the database is not available: \(why)"
        case .ownerRemoved(let owner): "the \(owner.rawValue) that the row would belong to was removed"
        case .queryTooExpensive(let budget): "the query took longer than \(budget)"
        case .queryInterrupted: "the query was interrupted too often, as much is being written"
        case .ending: "the provider is shutting down"
        }
    }
}
