package import PushProvider

/// How a provider server runs.
package struct ProviderConfiguration: Sendable {
    /// Holds the database and, unless it is elsewhere, the master key.
    package var dataDirectory: String
    /// 32 bytes that seal the private keys in the database; made on first start. Default `master.key` in the data
    /// directory.
    package var masterKeyPath: String
    /// Default 127.0.0.1.
    package var host = "127.0.0.1"
    /// Default 8080; 0 takes a free one.
    package var port = 8080
    package var dispatch = DispatchLimits()
    /// Default: nobody may register through the forms of older systems.
    package var compatibility = CompatibilityConfiguration()

    package init(dataDirectory: String, masterKeyPath: String? = nil) {
        self.dataDirectory = dataDirectory
        self.masterKeyPath = masterKeyPath ?? "\(dataDirectory)/master.key"
    }

    package var databasePath: String { "\(self.dataDirectory)/provider.sqlite" }
}
