import ArgumentParser
import PushSupport

/// A command that activates a device from a signing request, and prints or writes its certificate.
protocol GatewayActivationCommand: AsyncParsableCommand {
    /// The options by which the command reaches the gateway.
    var access: AdminOptions { get }
    /// The signing request, and the file for the certificate.
    var signingRequest: SigningRequestOptions { get }
    /// Returns the request.
    /// - Parameter csr: The signing request in PEM.
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

/// A command that gives a device that there is another certificate.
protocol GatewayReactivationCommand: GatewayActivationCommand {
    var resource: ResourceOptions<GatewayDevice> { get }
}

extension GatewayReactivationCommand {
    var access: AdminOptions { self.resource.access }
}

/// The options that name a signing request, and the file for its certificate.
struct SigningRequestOptions: ParsableArguments {
    @Argument(help: "The signing request: a file with PKCS#10 in PEM.") var csrFile: String
    @Option(help: "File for the certificate. Default: standard output.") var output: String?
}

/// `martlet gateway device add`.
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

/// `martlet gateway device reinstall`.
struct GatewayDeviceReinstallCommand: GatewayReactivationCommand {
    static let configuration = command("reinstall")
        .help("Reinstall a device's system: it gets a new certificate, and all its tokens are answered with 410.")
        .example("gateway device reinstall 3F1C… device.csr --output device.pem")

    @OptionGroup var resource: ResourceOptions<GatewayDevice>
    @OptionGroup var signingRequest: SigningRequestOptions

    func request(_ csr: JSONValue) -> APIRequest { self.resource.request(.post, "reinstall").body(["csr": csr]) }
}

/// `martlet gateway device restore`.
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
