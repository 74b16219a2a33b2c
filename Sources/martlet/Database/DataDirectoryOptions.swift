import ArgumentParser
import ProviderAPI

/// The options that name a provider's data, as `martlet serve` takes them.
struct DataDirectoryOptions: ParsableArguments {
    @OptionGroup var common: CommonOptions
    @OptionGroup var storage: SettingFlags<ServeSettings.Storage>
    @Flag(help: "Print the result as JSON.") var json = false

    /// Returns the paths that `martlet serve` would use.
    func paths() async throws -> ProviderConfiguration {
        let settings = try await self.common.settings([self.storage])
        let paths = ServeSettings.Storage.configuration(settings)
        try settings.check()
        return paths
    }
}
