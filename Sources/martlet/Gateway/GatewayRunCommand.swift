import ArgumentParser
import Logging
import PushGateway
import PushSupport

/// `martlet gateway run`: runs a gateway.
struct GatewayRunCommand: AsyncParsableCommand {
    static let configuration = command("run", "Run a gateway.")
        .detail("The first start makes an authority, certificates and a token key in the data directory.")
        .detail("Providers have to trust the authority.pem there.")
        .detail("Apps, keys and devices are managed over the admin API. Ends on Ctrl-C.")
        .detail("'martlet help settings gateway' lists all settings.")
        .example("gateway --environment sandbox --fault reason=TooManyRequests,percent=20")

    @OptionGroup var common: CommonOptions
    @OptionGroup var general: SettingFlags<GatewaySettings.General>
    @OptionGroup(title: "Listeners") var listeners: SettingFlags<GatewaySettings.Listeners>
    @OptionGroup(title: "Listeners") var freePorts: FreePortsOption
    @OptionGroup(title: "Behaviour") var behaviour: SettingFlags<GatewaySettings.Behaviour>
    @OptionGroup(title: "Admission") var admission: SettingFlags<GatewaySettings.UnauthenticatedConnections>

    func run() async throws {
        let settings = try await self.common.settings([self.general, self.listeners, self.behaviour, self.admission])
        let configuration = Self.configuration(settings, freePorts: self.freePorts.port != nil)
        let log = LogConfiguration(settings)
        try settings.check()

        let logger = log.logger("martlet")
        StartLine.log(to: logger, "gateway starts", data: configuration.dataDirectory, settings)
        OpenFileLimit.raise()
        let gateway = try Gateway(configuration: configuration, time: SystemTime(), logger: log.logger("gateway"))
        try await ServiceRunner.run([gateway], ready: { _ = try await gateway.addresses() }, logger: logger)
    }

    /// Returns the configuration that the settings describe; ``SettingsReader/check()`` comes after that.
    static func configuration(_ settings: SettingsReader, freePorts: Bool = false) -> GatewayConfiguration {
        var configuration = GatewayConfiguration.defaults
        GatewaySettings.General.apply(settings, to: &configuration)
        GatewaySettings.Listeners.apply(settings, freePorts: freePorts, to: &configuration)
        GatewaySettings.UnauthenticatedConnections.apply(settings, to: &configuration)
        GatewaySettings.Behaviour.apply(settings, to: &configuration)
        // Single rules win over the preset that the behaviour has chosen.
        GatewaySettings.Rules.apply(settings, to: &configuration)
        return configuration
    }
}
