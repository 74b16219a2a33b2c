import Foundation
import Logging
import PushSender
import PushTesting
import Synchronization
import Testing

@Suite struct CredentialWatchTests {
    @Test func aChangedFileIsLoadedAndABrokenOneIsNot() async throws {
        try await withTemporaryDirectory { folder in
            let path = "\(folder)/push.pem"
            let seen = Seen()
            let watch = CredentialWatch(CredentialFile(path: path), logger: silentLogger) { seen.append($0) }
            #expect(await watch.check() == false, "there is no file yet")

            try Self.write(PEMFixtures.sandboxCertificate + PEMFixtures.ecKey, to: path)
            #expect(await watch.check())
            #expect(await watch.check() == false, "nothing changed")

            try Self.write(PEMFixtures.productionCertificate, to: path)
            #expect(await watch.check() == false, "the key is missing")
            #expect(await watch.check() == false)
            try Self.write(PEMFixtures.productionCertificate + PEMFixtures.ecKey, to: path)
            #expect(await watch.check())

            try FileManager.default.removeItem(atPath: path)
            #expect(await watch.check() == false)
            #expect(seen.identities.count == 2)
            #expect(Set(seen.identities).count == 2)
        }
    }

    @Test func theFileOfTheKeyIsWatchedToo() async throws {
        try await withTemporaryDirectory { folder in
            let (path, keyFile) = ("\(folder)/push.pem", "\(folder)/key.pem")
            let seen = Seen()
            let file = CredentialFile(path: path, keyFile: keyFile)
            let watch = CredentialWatch(file, logger: silentLogger) { seen.append($0) }
            try Self.write(PEMFixtures.sandboxCertificate, to: path)
            try Self.write(PEMFixtures.otherKey, to: keyFile)
            #expect(await watch.check() == false)
            try Self.write(PEMFixtures.ecKey, to: keyFile)
            #expect(await watch.check())
        }
    }

    @Test func anotherTargetOfALinkIsAChange() async throws {
        try await withTemporaryDirectory { folder in
            let link = "\(folder)/push.pem"
            for (name, certificate) in [
                ("a", PEMFixtures.sandboxCertificate), ("b", PEMFixtures.productionCertificate),
            ] {
                try Self.write(certificate + PEMFixtures.ecKey, to: "\(folder)/\(name).pem")
            }
            let seen = Seen()
            let watch = CredentialWatch(CredentialFile(path: link), logger: silentLogger) { seen.append($0) }
            for name in ["a", "b"] {
                try? FileManager.default.removeItem(atPath: link)
                try FileManager.default.createSymbolicLink(
                    atPath: link,
                    withDestinationPath: "\(folder)/\(name).pem"
                )
                #expect(await watch.check())
            }
            #expect(Set(seen.identities).count == 2)
        }
    }

    @Test(.timeLimit(.patience)) func asAServiceItChecksRepeatedly() async throws {
        try await withTemporaryDirectory { folder in
            let path = "\(folder)/push.pem"
            let seen = Seen()
            let watch = CredentialWatch(
                CredentialFile(path: path),
                interval: .milliseconds(5),
                logger: silentLogger
            ) { seen.append($0) }
            try await withServices([watch]) {
                try Self.write(PEMFixtures.sandboxCertificate + PEMFixtures.ecKey, to: path)
                try await eventually { !seen.identities.isEmpty }
            }
        }
    }

    /// The identities that a handler received.
    final class Seen: Sendable {
        private let list = Mutex<[String]>([])

        var identities: [String] { self.list.withLock { $0 } }

        func append(_ credential: PushCredential) {
            self.list.withLock { $0.append(credential.identity) }
        }
    }

    static func write(_ text: String, to path: String) throws {
        try text.write(toFile: path, atomically: true, encoding: .utf8)
    }
}
