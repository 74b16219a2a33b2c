import ArgumentParser
import ProviderAPI

/// Where a provider's data is, as `martlet serve` takes it.
struct DataDirectoryOptions: ParsableArguments {
    @OptionGroup var common: CommonOptions

    @Option(help: "Where the database is (serve.dataDirectory; default: martlet-data/provider).")
    var dataDirectory: String?

    @Option(help: "The master key (serve.masterKey; default: master.key in the data directory).")
    var masterKey: String?

    /// What `martlet serve` would use.
    func places() async throws -> ProviderConfiguration {
        let settings = try await self.common.settings([
            "serve.dataDirectory": self.dataDirectory.setting(), "serve.masterKey": self.masterKey.setting(),
        ])
        let places = ProviderConfiguration(
            dataDirectory: settings.string("serve.dataDirectory", default: "martlet-data/provider"),
            masterKeyPath: settings.string("serve.masterKey")
        )
        try settings.check()
        return places
    }
}
