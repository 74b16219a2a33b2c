import PushTesting
import Testing

@testable import martlet

@Suite("The command martlet reader") struct ReaderCommandTests {
    private static let usual = ["reader", "--app", "com.example.MyApp", "--public-key", "mk_public_x"]

    @Test(
        "A mistake in what it is given has the status 64 and names it",
        arguments: [
            (["--", "opne"], "the arguments after --, command 1: unknown command 'opne': 'help' lists all"),
            (["--screen", "large"], "reader.screen: 'large' is no size such as 2048x1536"),
            (["--deny", "push"], "reader.denied: 'push' is none of alert, badge, sound, newsstand"),
            (["--network", "lan"], "reader.network: 'lan' is none of"),
            (["--gateway", "a:b"], "reader.gateway: 'a:b' is no HOST:PORT"),
            (["--provider", "http://push.example.com"], "the provider needs an https URL"),
            (["--public-key", "mk_secret"], "an app has a public key, mk_public_…"),
        ]
    )
    func mistakes(words: [String], message: String) async throws {
        let error = await #expect(throws: SettingsError.self) { try await martlet(Self.usual + words) }
        #expect(error?.status == .usage)
        #expect(error?.description.hasPrefix(message) == true, "\(error?.description ?? "")")
    }

    @Test("A file with a transaction that is missing is named")
    func transactions() async throws {
        let error = await #expect(throws: SettingsError.self) {
            try await martlet(Self.usual + ["--transactions", "/nonexistent"])
        }
        #expect(error?.description.contains("/nonexistent") == true)
    }
}
