import ArgumentParser
import PushSupport
import PushTypes

/// `martlet gateway device`: manages the devices of a gateway.
struct GatewayDeviceCommand: AsyncParsableCommand {
    static let configuration = command("device", "The devices of a gateway. ('martlet device' is one.)")
        .example("gateway device list --online")
        .subcommands([
            ListResources<GatewayDevice>.self, ShowResource<GatewayDevice>.self, GatewayDeviceAddCommand.self,
            GatewayDeviceReinstallCommand.self, GatewayDeviceRestoreCommand.self, Revoke.self, Disconnect.self,
            RemoveResource<GatewayDevice>.self, RemoveApp.self,
        ])

    /// `martlet gateway device revoke`: revokes the certificate of a device.
    struct Revoke: ResourceCommand {
        static let configuration = command("revoke")
            .help("Revoke its certificate: it can no longer connect, and its tokens stay registered.")
            .example("gateway device revoke 3F1C…")

        @OptionGroup var resource: ResourceOptions<GatewayDevice>

        func request() -> APIRequest { self.resource.request(.delete, "certificate") }

        func text(of response: JSONValue) -> String { "the certificate of \(self.resource.id) is revoked" }
    }

    /// `martlet gateway device disconnect`: closes the connections of a device.
    struct Disconnect: ResourceCommand {
        static let configuration = command("disconnect", "End a device's connections; it may connect again at once.")
            .example("gateway device disconnect 3F1C…")

        @OptionGroup var resource: ResourceOptions<GatewayDevice>

        func request() -> APIRequest { self.resource.request(.post, "disconnect") }

        func text(of response: JSONValue) -> String {
            "\(response["connections"].integerValue ?? 0) connection(s) ended"
        }
    }

    /// `martlet gateway device remove-app`: removes an app from a device.
    struct RemoveApp: ResourceCommand {
        static let configuration = command("remove-app")
            .help("Remove an app from a device: its token is answered with 410 from now on.")
            .example("gateway device remove-app 3F1C… com.example.MyApp --delay 60")

        @OptionGroup var resource: ResourceOptions<GatewayDevice>
        @Argument(help: "The app's topic.") var topic: String
        @Option(help: "sandbox or production. Default: both.") var environment: PushEnvironment?
        @Option(help: "Seconds until the token is answered with 410; Apple may take hours. Default: 0.") var delay: Int?

        func request() -> APIRequest {
            self.resource.request(.delete, "topics", self.topic)
                .query([("environment", self.environment?.rawValue), ("delaySeconds", self.delay.map { "\($0)" })])
        }

        func text(of response: JSONValue) -> String { "\(self.topic) is removed from \(self.resource.id)" }
    }
}

enum GatewayDevice: GatewayResource, ListableResource, ShowableResource, RemovableResource {
    /// The options of `martlet gateway device list`.
    struct Filter: ListFilter {
        @Flag(inversion: .prefixedNo, help: "Only those that are connected, or that are not.") var online: Bool?
        @Option(help: "Only those with this app.") var topic: String?
        @Option(help: "Only those with this in their name.") var name: String?
        @Option(help: "The maximum number of entries to show.") var limit: Int?

        var maximum: Int? { self.limit }
        var query: [(String, String?)] {
            [("online", self.online.map { "\($0)" }), ("topic", self.topic), ("name", self.name)]
        }
    }

    static let path = "devices"
    static let id = ArgumentHelp("The device's id.")
    static let list = command("list", "List devices, oldest first.")
        .example("gateway device list --topic com.example.MyApp --online")
    static let show = command("show", "Show a device with its device tokens.")
        .example("gateway device show 3F1C… --json")
    static let remove = command("remove", "Delete a device: its tokens are answered with 410 from now on.")
        .example("gateway device remove 3F1C…")

    static let columns: TextTable = [
        .init("device", "deviceId"), "name", "online", "revoked", .time("last seen", "lastSeenAt"), "topics",
    ]
    private static let allColumns: TextTable = [
        .init("device", "deviceId"), "name", .time("activated", "activatedAt"), .time("last seen", "lastSeenAt"),
        .init("certificate", "certificateSerial"), .time("revoked", "revokedAt"), "epoch",
    ]
    private static let connections: TextTable = [
        "environment", "online", .init("in use", "active"), "unacknowledged", "channels",
    ]
    private static let apps: TextTable = [
        "topic", "environment", "generation", .time("minted", "mintedAt"), .time("ended", "endedAt"), "token",
    ]

    static func removed(_ id: String) -> String { "\(id) is deleted" }

    static func details(_ device: JSONValue) -> String {
        let connections = self.connections.text(of: device["connections"].elements)
        let installs = device["installs"].elements
        let apps = installs.isEmpty ? "no apps" : self.apps.text(of: installs)
        return [self.allColumns.details(of: device), connections, apps].joined(separator: "\n\n")
    }
}

/// A command that activates a device with a certificate signing request, and prints or writes its certificate.
protocol GatewayActivationCommand: AsyncParsableCommand {
    var access: AdminOptions { get }
    var signingRequest: SigningRequestOptions { get }
    /// Creates the request that activates the device.
    /// - Parameter csr: The certificate signing request in PEM.
    func request(_ csr: JSONValue) -> APIRequest
}

extension GatewayActivationCommand {
    mutating func run() async throws {
        let request = self.request(try InputFile.text(self.signingRequest.csrFile).json)
        let response = try await self.access.connection().send(request)
        guard !self.access.json else { return try StandardOutput.result(try response.line) }
        let certificate = response["certificate"].stringValue ?? ""
        StandardError.line("device \(response["deviceId"].stringValue ?? "?")")
        if let output = self.signingRequest.output {
            try OutputFile.write(pem: certificate, to: output, isSecret: false)
            StandardError.line("wrote \(output)")
        } else {
            try StandardOutput.result(certificate)
        }
    }
}

/// A command that issues another certificate for an existing device.
protocol GatewayReactivationCommand: GatewayActivationCommand {
    var resource: ResourceOptions<GatewayDevice> { get }
}

extension GatewayReactivationCommand {
    var access: AdminOptions { self.resource.access }
}

/// The options for the file with a certificate signing request and the file for the resulting certificate.
struct SigningRequestOptions: ParsableArguments {
    @Argument(help: "The signing request: a file with PKCS#10 in PEM.") var csrFile: String
    @Option(help: "File for the certificate. Default: standard output.") var output: String?
}

/// `martlet gateway device add`: activates a new device.
struct GatewayDeviceAddCommand: GatewayActivationCommand {
    static let configuration = command("add")
        .help("Activate a device from its signing request; prints its certificate in PEM.")
        .example("gateway device add device.csr --name 'my device' --output device.pem")

    @OptionGroup var access: AdminOptions
    @OptionGroup var signingRequest: SigningRequestOptions
    @Option(help: "The name in lists.") var name: String?

    func request(_ csr: JSONValue) -> APIRequest {
        .post(GatewayDevice.path).body(["csr": csr, "name": self.name?.json])
    }
}

/// `martlet gateway device reinstall`: issues a new certificate and invalidates all tokens of a device.
struct GatewayDeviceReinstallCommand: GatewayReactivationCommand {
    static let configuration = command("reinstall")
        .help("Reinstall a device's system: it gets a new certificate, and all its tokens are answered with 410.")
        .example("gateway device reinstall 3F1C… device.csr --output device.pem")

    @OptionGroup var resource: ResourceOptions<GatewayDevice>
    @OptionGroup var signingRequest: SigningRequestOptions

    func request(_ csr: JSONValue) -> APIRequest { self.resource.request(.post, "reinstall").body(["csr": csr]) }
}

/// `martlet gateway device restore`: moves a device to a new id and a new certificate.
struct GatewayDeviceRestoreCommand: GatewayReactivationCommand {
    static let configuration = command("restore")
        .help("Move a device to new hardware: a new id and certificate; the old device's tokens are answered with 410.")
        .example("gateway device restore 3F1C… new.csr --output new.pem")

    @OptionGroup var resource: ResourceOptions<GatewayDevice>
    @OptionGroup var signingRequest: SigningRequestOptions
    @Option(help: "The name of the new device in lists. Default: that of the old one.") var name: String?

    func request(_ csr: JSONValue) -> APIRequest {
        .post(GatewayDevice.path).body(["csr": csr, "name": self.name?.json, "restoreOf": self.resource.id.json])
    }
}
