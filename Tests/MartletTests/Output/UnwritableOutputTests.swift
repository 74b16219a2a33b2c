import Foundation
import PushStore
import PushTesting
import Testing

@testable import martlet

/// Commands whose result cannot be written.
@Suite(.timeLimit(.patience)) struct UnwritableOutputTests {
    private static let full: @Sendable (Data) throws -> Void = { _ in throw CocoaError(.fileWriteOutOfSpace) }

    @Test func aCommandThatPrintsNothingFails() async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.addVectorsApp()
            let access = ["--server", provider.api.baseURL, "--api-key", provider.api.apiKey ?? ""]
            let send = ["send", "--app", Vectors.bundleID, "--all", "--environment", "sandbox", "--body", "Hi"]
            for words in [["key", "list"], ["key", "list", "--json"], send] {
                let error = await #expect(throws: OutputError.self) {
                    try await martlet(words + access, write: Self.full)
                }
                #expect(error?.status == .failed && error?.isClosedPipe == false)
            }
        }
    }

    /// Nobody has seen the key, which is valid.
    @Test func aKeyThatWasNotShownIsNamed() async throws {
        try await withTemporaryDirectory { directory in
            let key = try MasterKey.load(orCreateAt: "\(directory)/master.key")
            try await SQLStore(path: "\(directory)/provider.sqlite", masterKey: key).close()
            let words = ["reset-admin-key", "--data-directory", directory]
            let error = await #expect(throws: SettingsError.self) { try await martlet(words, write: Self.full) }
            #expect(error?.description.contains("'martlet key remove ") == true)
            let backup = ["backup", "--data-directory", directory, "--to", "\(directory)/backup.sqlite"]
            await #expect(throws: OutputError.self) { try await martlet(backup, write: Self.full) }
        }
    }

    @Test func aReaderThatHasGoneIsKnown() {
        let cause = NSError(domain: NSPOSIXErrorDomain, code: Int(EPIPE))
        #expect(OutputError(CocoaError(.fileWriteUnknown, userInfo: [NSUnderlyingErrorKey: cause])).isClosedPipe)
        #expect(!OutputError(CocoaError(.fileWriteOutOfSpace)).isClosedPipe)
    }
}
