import ArgumentParser
import Foundation

struct GatewayAuthorityCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "authority",
        abstract: "Print or write the certificate that providers and devices have to trust, in PEM.",
        discussion: "Example: martlet gateway authority --output authority.pem"
    )

    @OptionGroup var admin: AdminOptions

    @Option(help: "File to write; default: standard output.")
    var output: String?

    func run() async throws {
        guard let output else {
            return try await self.admin.show(APIRequest(.get, ["authority"])) {
                ($0["certificate"].stringValue ?? "").trimmingCharacters(in: .newlines)
            }
        }
        let certificate = try await self.admin.answer(APIRequest(.get, ["authority"]))["certificate"].stringValue
        try OutputFile.write(pem: certificate ?? "", to: output, isSecret: false)
        StandardError.line("wrote \(output)")
    }
}
