import ArgumentParser

/// The options of every command that manages a running gateway.
struct AdminOptions: APIAccess {
    @OptionGroup var common: CommonOptions
    @OptionGroup var admin: SettingFlags<GatewaySettings.Admin>
    @Flag(help: "Print the response as JSON.") var json = false

    /// Returns the connection to the gateway's admin API, which needs no key.
    func connection() async throws -> APIConnection {
        let settings = try await self.common.settings([self.admin])
        let url = GatewaySettings.Admin.url(settings)
        try settings.check()
        return APIConnection(client: try APIClient(baseURL: url, role: .gateway), cursor: "after")
    }
}

/// A kind of record that a gateway keeps.
protocol GatewayResource: Resource where Access == AdminOptions {}
