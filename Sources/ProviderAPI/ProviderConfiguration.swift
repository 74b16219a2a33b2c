package import PushHTTP
package import PushProvider
package import PushStore

/// How a provider server runs.
package struct ProviderConfiguration: Sendable {
    /// Holds the database and, unless it is elsewhere, the master key.
    package var dataDirectory: String
    /// 32 bytes that seal the private keys in the database; made on first start. Default `master.key` in the data
    /// directory.
    package var masterKeyPath: String
    /// A file to be made for the first admin key, which only its owner can read. Default: none.
    package var adminKeyFile: String?
    /// Default 127.0.0.1.
    package var host = "127.0.0.1"
    /// Default 8080; 0 takes a free one.
    package var port = 8080
    package var dispatch = DispatchLimits()
    /// When no token is deactivated any more.
    package var breaker = CircuitBreaker.Limits()
    package var schedules = ScheduleRunner.Settings()
    /// The retention of records.
    package var retention = RetentionSettings()
    /// Whether an operator says that the wall clock is right, however far it is ahead of the last start.
    package var confirmsClock = false
    /// Default: addresses that everybody can reach.
    package var webhookAddresses = AddressPolicy()
    package var limits = Limits()
    /// Default: nobody may register through the forms of older systems.
    package var compatibility = CompatibilityConfiguration()

    package init(dataDirectory: String, masterKeyPath: String? = nil) {
        self.dataDirectory = dataDirectory
        self.masterKeyPath = masterKeyPath ?? "\(dataDirectory)/master.key"
    }

    package var databasePath: String { "\(self.dataDirectory)/provider.sqlite" }

    /// Lies there while a backup is being put in the place of the database: nothing may be served from it then. Holds the
    /// name under which the old database is kept.
    package var replacementMarker: String { "\(self.databasePath).replacing" }

    /// What clients of the API may take of the server.
    package struct Limits: Hashable, Sendable {
        /// From the head of a request to its end, and for each piece of an answer. Default 30 s.
        package var request: Duration = .seconds(30)
        /// Longest file of an import, in bytes. Default 4 GB, which is some 20 million devices.
        package var importFile = 4 * 1024 * 1024 * 1024
        /// Time that a question of a person may take, without the time for which it waits. Default 10 s.
        package var question: Duration = .seconds(10)
        package var questions = QueryLimits()
        /// Requests per second of one API key, twice as many at once; 0 sets no limit. Default 1,000.
        package var keyRate = 1000
        /// The bounds of connections without a valid key.
        package var unproven = UnauthenticatedStateMachine.Limits()
        /// Without any byte. Default 60 s.
        package var idle: Duration = .seconds(60)
        /// At the same time; more wait until one ends. Default 1,000.
        package var connections = 1000

        package init() {}
    }
}
