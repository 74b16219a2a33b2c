import ArgumentParser
import Foundation
import PushSupport

struct GatewayKeyCreateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Make a key, as Apple would issue it: AuthKey_<id>.p8 for the provider.",
        discussion:
            "Example: martlet gateway key create --team DEF123GHIJ --scope environment --environment sandbox"
    )

    @OptionGroup var admin: AdminOptions
    @OptionGroup var scope: KeyScopeOptions

    @Option(help: "Its id, 10 letters or digits. Default: a new one.")
    var keyID: String?

    @Option(help: "The folder for the file. Default: the working directory.")
    var output = "."

    func run() async throws {
        let body = self.scope.members.merging([
            "generate": .bool(true), "keyId": self.keyID.map(JSONValue.string),
        ]) { $1 }
        let answer = try await self.admin.answer(APIRequest(.post, ["keys"], body: body))
        guard let id = answer["keyId"].stringValue, let key = answer["privateKey"].stringValue else {
            throw SettingsError("the gateway made no key: is it of another version?")
        }
        let path = "\(self.output)/AuthKey_\(id).p8"
        do {
            try OutputFile.write(pem: key, to: path, isSecret: true)
        } catch {
            // Nobody could ever use it.
            _ = try? await self.admin.answer(APIRequest(.delete, ["keys", id]))
            throw error
        }
        if self.admin.json {
            let shown: [String: JSONValue] = ["keyId": .string(id), "file": .string(path)]
            StandardOutput.line(try JSONValue.object(shown).line)
        } else {
            StandardOutput.line("key \(id) is in \(path)")
        }
    }
}
