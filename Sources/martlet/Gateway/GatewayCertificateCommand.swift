import ArgumentParser

/// `martlet gateway certificate`: manages the certificates of providers.
struct GatewayCertificateCommand: AsyncParsableCommand {
    static let configuration = command("certificate", "The certificates by which providers authenticate.")
        .example("gateway certificate create --topic com.example.MyApp")
        .subcommands([
            ListResources<Certificate>.self, GatewayCertificateCreateCommand.self, RemoveResource<Certificate>.self,
        ])

    /// The certificates of providers.
    enum Certificate: GatewayResource, ListableResource, RemovableResource {
        static let path = "certificates"
        static let id = ArgumentHelp("Its serial number, as the list shows it.", valueName: "serial")
        static let columns: TextTable = [
            "serial", "topic", "topics",
            "environments", .time("expires", "expiresAt"),
            .time("revoked", "revokedAt"),
        ]
        static let list = command("list", "List all certificates.").example("gateway certificate list")
        static let remove = command("revoke", "Revoke a certificate: connections with it are rejected from now on.")
            .example("gateway certificate revoke 4f2a…")

        static func removed(_ id: String) -> String { "certificate \(id) is revoked" }
    }
}
