import Testing

@testable import PushBridges

/// The examples of RFC 5802 section 5 and of RFC 7677 section 3.
@Suite struct SCRAMClientTests {
    private struct Example: Sendable {
        var mechanism: SCRAMClient.Mechanism
        var nonce, serverNonce, salt, proof, signature: String

        var serverFirst: String { "r=\(self.serverNonce),s=\(self.salt),i=4096" }
    }

    private static let sha1 = Example(
        mechanism: .sha1,
        nonce: "fyko+d2lbbFgONRv9qkxdawL",
        serverNonce: "fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j",
        salt: "QSXCR+Q6sek8bf92",
        proof: "v0X8v3Bz2T0CJGbJQyF0X+HI4Ts=",
        signature: "rmF9pqV8S7suAoZWja4dJRkFsKQ="
    )
    private static let sha256 = Example(
        mechanism: .sha256,
        nonce: "rOprNGfwEbeRWgbNEkqO",
        serverNonce: "rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0",
        salt: "W22ZaJ0SNY7soEsUEjb6gQ==",
        proof: "dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=",
        signature: "6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="
    )

    private func client(_ example: Example) -> SCRAMClient {
        SCRAMClient(example.mechanism, account: "user", password: "pencil", nonce: example.nonce)
    }

    @Test(arguments: [false, true])
    func theExamplesOfTheRFCs(isSHA256: Bool) throws {
        let example = isSHA256 ? Self.sha256 : Self.sha1
        var client = self.client(example)
        #expect(client.first == "n,,n=user,r=\(example.nonce)")
        let derivation = try client.received(first: example.serverFirst)
        #expect(derivation.rounds == 4096 && derivation.password == "pencil")
        let final = client.final(key: derivation.key())
        #expect(final == "c=biws,r=\(example.serverNonce),p=\(example.proof)")
        try client.check(final: "v=\(example.signature)")
        // Another signature is that of a server that does not know the password.
        let forged = isSHA256 ? Self.sha1.signature : Self.sha256.signature
        #expect(throws: ChatFailure.self) { try client.check(final: "v=\(forged)") }
        #expect(throws: ChatFailure.self) { try client.check(final: "v=") }
        #expect(throws: ChatFailure.self) { try client.check(final: "") }
        #expect(throws: ChatFailure.self) { try client.check(final: "e=invalid-proof") }
    }

    @Test func aProofBeforeTheExchangeIsNone() {
        let client = self.client(Self.sha1)
        #expect(throws: ChatFailure.self) { try client.check(final: "v=") }
        #expect(throws: ChatFailure.self) { try client.check(final: "v=\(Self.sha1.signature)") }
    }

    @Test(arguments: [
        "", "r=x", "r=other,s=QSXCR+Q6sek8bf92,i=4096", "r=fyko+d2lbbFgONRv9qkxdawL,s=QSXCR+Q6sek8bf92,i=4096",
        "m=x,r=fyko+d2lbbFgONRv9qkxdawL1,s=QSXCR+Q6sek8bf92,i=4096", "r=fyko+d2lbbFgONRv9qkxdawL1,s=?,i=4096",
        "r=fyko+d2lbbFgONRv9qkxdawL1,s=,i=4096", "r=fyko+d2lbbFgONRv9qkxdawL1,s=QSXCR+Q6sek8bf92,i=1",
        "r=fyko+d2lbbFgONRv9qkxdawL1,s=QSXCR+Q6sek8bf92,i=99999999999999999999",
        "r=fyko+d2lbbFgONRv9qkxdawL1,s=QSXCR+Q6sek8bf92,i=2000000000",
        "r=fyko+d2lbbFgONRv9qkxdawL1,r=fyko+d2lbbFgONRv9qkxdawL2,s=QSXCR+Q6sek8bf92,i=4096", "r,s,i", ",,,",
    ])
    func aChallengeThatIsNoneFails(message: String) {
        #expect(throws: ChatFailure.self) {
            var client = self.client(Self.sha1)
            return try client.received(first: message)
        }
    }

    @Test func namesAreEscapedAndPasswordsNormalized() throws {
        var client = SCRAMClient(.sha1, account: "a=b,c", password: "\u{2168}\u{a0}\u{ad}x", nonce: "n")
        #expect(client.first == "n,,n=a=3Db=2Cc,r=n")
        // RFC 4013 section 3: the Roman numeral nine is IX; another space is a space, a soft hyphen is nothing.
        let derivation = try client.received(first: "r=nm,s=QSXCR+Q6sek8bf92,i=4096")
        #expect(derivation.password == "IX x")
    }

    @Test func everyNonceIsAnother() {
        let nonces = Set((0..<100).map { _ in SCRAMClient.makeNonce() })
        #expect(nonces.count == 100 && nonces.allSatisfy { !$0.contains(",") && $0.utf8.count == 24 })
    }
}
