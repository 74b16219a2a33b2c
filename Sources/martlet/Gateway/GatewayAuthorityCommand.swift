import ArgumentParser
import Foundation
import PushSupport

/// `martlet gateway authority`: prints or writes the gateway's authority.
struct GatewayAuthorityCommand: AsyncParsableCommand {
    static let configuration = command("authority")
        .help("Print or write the certificate that providers and devices have to trust, in PEM.")
        .example("gateway authority --output authority.pem")

    @OptionGroup var access: AdminOptions
    @Option(help: "File to write; default: standard output.") var output: String?

    func run() async throws {
        let response = try await self.access.connection().send(.get("authority"))
        let certificate = response["certificate"].stringValue ?? ""
        guard let output else {
            return try self.access.print(response) { _ in certificate.trimmingCharacters(in: .newlines) }
        }
        try OutputFile.write(pem: certificate, to: output, isSecret: false)
        StandardError.line("wrote \(output)")
    }
}
