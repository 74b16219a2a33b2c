import ArgumentParser
import PushSupport

struct GatewayDeviceAddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Activate a device from its signing request; prints its certificate in PEM.",
        discussion: "Example: martlet gateway device add device.csr --name 'my device' --output device.pem"
    )

    @OptionGroup var admin: AdminOptions
    @OptionGroup var request: SigningRequestOptions

    @Option(help: "How lists call it.")
    var name: String?

    func run() async throws {
        let body: [String: JSONValue?] = ["csr": try self.request.csr, "name": self.name.map(JSONValue.string)]
        let answer = try await self.admin.answer(APIRequest(.post, ["devices"], body: body))
        try DeviceText.activated(answer, output: self.request.output, asJSON: self.admin.json)
    }
}

struct GatewayDeviceReinstallCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reinstall",
        abstract: "Install a device's system anew: a new certificate, and all its tokens answer 410.",
        discussion: "Example: martlet gateway device reinstall 3F1C… device.csr --output device.pem"
    )

    @OptionGroup var admin: AdminOptions
    @OptionGroup var device: DeviceArgument
    @OptionGroup var request: SigningRequestOptions

    func run() async throws {
        let request = APIRequest(
            .post,
            ["devices", self.device.id, "reinstall"],
            body: ["csr": try self.request.csr]
        )
        let answer = try await self.admin.answer(request)
        try DeviceText.activated(answer, output: self.request.output, asJSON: self.admin.json)
    }
}

struct GatewayDeviceRestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Move a device to new hardware: a new id and certificate; the old device's tokens answer 410.",
        discussion: "Example: martlet gateway device restore 3F1C… new.csr --output new.pem"
    )

    @OptionGroup var admin: AdminOptions
    @OptionGroup var device: DeviceArgument
    @OptionGroup var request: SigningRequestOptions

    @Option(help: "How lists call the new one. Default: as the old one.")
    var name: String?

    func run() async throws {
        let body: [String: JSONValue?] = [
            "csr": try self.request.csr, "name": self.name.map(JSONValue.string),
            "restoreOf": .string(self.device.id),
        ]
        let answer = try await self.admin.answer(APIRequest(.post, ["devices"], body: body))
        try DeviceText.activated(answer, output: self.request.output, asJSON: self.admin.json)
    }
}

/// A signing request, and where its certificate goes.
struct SigningRequestOptions: ParsableArguments {
    @Argument(help: "The signing request: a file with PKCS#10 in PEM.")
    var csrFile: String

    @Option(help: "File for the certificate. Default: standard output.")
    var output: String?

    var csr: JSONValue {
        get throws { .string(try OutputFile.read(self.csrFile)) }
    }
}
