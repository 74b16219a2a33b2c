import Foundation
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushProvider

/// The verification of transactions, and the ways to forge them.
@Suite(.timeLimit(.patience)) struct TransactionVerifierTests {
    static let now = ManualTime().now
    private static let client = BudgetCaller(.network([192, 0, 2, 1]))
    let store: TestAppStore
    let app: Topic
    /// Bounds nothing.
    let wrong = Budget(.wrongSecrets, limits: BudgetLimits(.init()))

    init() throws {
        self.store = try TestAppStore()
        self.app = try #require(Topic(Vectors.bundleID))
    }

    private func verifier(_ store: TestAppStore? = nil) throws -> TransactionVerifier {
        TransactionVerifier(try AppStoreRoots(Data((store ?? self.store).root)))
    }

    /// Returns the fault of a text; `nil` for one that is accepted.
    private func fault(
        _ text: String,
        _ verifier: TransactionVerifier? = nil,
        at now: Timestamp = Self.now,
        wrong: Budget? = nil,
        of client: BudgetCaller = Self.client
    ) async throws -> TransactionFault? {
        let verifier = try verifier ?? self.verifier()
        do throws(TransactionFault) {
            _ = try await verifier.verify(text, app: self.app, now: now, wrong: wrong ?? self.wrong, of: client)
            return nil
        } catch {
            return error
        }
    }

    @Test func aTransactionOfTheAppStoreIsRead() async throws {
        let account = UUID()
        let text = try self.store.transaction([
            "productId": "com.example.yearly", "type": "Auto-Renewable Subscription", "environment": "Sandbox",
            "purchaseDate": 1_699_000_000_000, "expiresDate": 1_730_000_000_000, "isUpgraded": true,
            "revocationDate": 1_699_500_000_000, "appAccountToken": .string(account.uuidString),
            "inAppOwnershipType": "FAMILY_SHARED",
        ])
        let transaction = try await self.verifier().verify(
            text,
            app: self.app,
            now: Self.now,
            wrong: self.wrong,
            of: Self.client
        )
        #expect(transaction.productID == "com.example.yearly")
        #expect(transaction.kind == .subscription && transaction.environment == .sandbox)
        #expect(transaction.purchasedAt == Timestamp(seconds: 1_699_000_000))
        #expect(transaction.expiresAt == Timestamp(seconds: 1_730_000_000))
        #expect(transaction.revokedAt == Timestamp(milliseconds: 1_699_500_000_000))
        #expect(transaction.isUpgraded && transaction.account == account)
    }

    @Test func withoutARootNothingIsAccepted() async throws {
        let fault = try await self.fault(try self.store.transaction(), TransactionVerifier(nil))
        #expect(fault == .noRoot)
        #expect(fault?.message.contains("serve.publishing.appStoreRoot") == true)
    }

    @Test func rootsAreReadInDERAndPEM() async throws {
        let other = try TestAppStore()
        let both = TransactionVerifier(try AppStoreRoots(Data((try self.store.rootPEM + "\n" + other.rootPEM).utf8)))
        #expect(try await self.fault(try self.store.transaction(), both) == nil)
        #expect(try await self.fault(try other.transaction(), both) == nil)
        for file in ["", "garbage", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
            #expect(throws: AppStoreRoots.Unreadable.self) { try AppStoreRoots(Data(file.utf8)) }
        }
    }

    @Test func anotherAuthorityIsRefused() async throws {
        let other = try TestAppStore()
        let fault = TransactionFault.untrusted("its root certificate is not a configured one")
        #expect(try await self.fault(try other.transaction()) == fault)
        // With the true root in the header, nothing leads to it.
        let text = try other.sign(try other.payload(), chain: [other.signer, other.intermediate, self.store.root])
        guard case .untrusted? = try await self.fault(text) else {
            Issue.record("accepted")
            return
        }
    }

    /// A signer's certificate of the same authority, in whose place another key has signed.
    @Test func aSwappedSignerIsRefused() async throws {
        let other = try TestAppStore()
        let stolen = [self.store.signer, self.store.intermediate, self.store.root]
        #expect(try await self.fault(try other.sign(try other.payload(), chain: stolen)) == .badSignature)
        // The certificate of the forger, with the true intermediate one.
        let own = [other.signer, self.store.intermediate, self.store.root]
        guard case .untrusted? = try await self.fault(try other.sign(try other.payload(), chain: own)) else {
            Issue.record("accepted")
            return
        }
    }

    @Test func aShuffledChainIsRefused() async throws {
        let (signer, issuer, root) = (self.store.signer, self.store.intermediate, self.store.root)
        for chain in [
            [issuer, signer, root], [signer, root, root], [root, root, root], [signer, signer, root],
            [issuer, issuer, root],
            [root, issuer, signer], [signer, issuer, issuer], [signer, [0x30, 0x00], root],
            [[0x30, 0x80], issuer, root],
        ] {
            #expect(try await self.fault(try self.store.sign(try self.store.payload(), chain: chain)) != nil)
        }
    }

    @Test(arguments: ["signer", "intermediate", "authority", "key"])
    func otherCertificatesOfApplesAreRefused(flaw: String) async throws {
        var flaws = TestAppStore.Flaws()
        switch flaw {
        case "signer": flaws.marksSigner = false
        case "intermediate": flaws.marksIntermediate = false
        case "authority": flaws.intermediateIsAuthority = false
        default: flaws.signerIsP384 = true
        }
        let store = try TestAppStore(flaws)
        guard case .untrusted? = try await self.fault(try store.transaction(), try self.verifier(store)) else {
            Issue.record("accepted: \(flaw)")
            return
        }
    }

    /// What counts is the time of the signature: apps keep transactions for years.
    @Test func certificatesMustBeValidWhenTheySign() async throws {
        var flaws = TestAppStore.Flaws()
        flaws.intermediateLifetime = .seconds(60)
        let store = try TestAppStore(flaws)
        let verifier = try self.verifier(store)
        let later = Self.now.advanced(by: .seconds(3600))
        #expect(try await self.fault(try store.transaction(), verifier, at: later) == nil)
        // The chain is remembered by now.
        for shift in [61, 3600, -90_000] as [Int64] {
            let signedAt = JSONValue.integer(Self.now.milliseconds + shift * 1000)
            let text = try store.transaction(["signedDate": signedAt])
            guard case .untrusted? = try await self.fault(text, verifier, at: later) else {
                Issue.record("accepted: \(shift)")
                continue
            }
        }
    }

    @Test func aSignatureOfTheFutureIsRefused() async throws {
        let soon = try self.store.transaction(["signedDate": .integer(Self.now.milliseconds + 290_000)])
        #expect(try await self.fault(soon) == nil)
        let later = try self.store.transaction(["signedDate": .integer(Self.now.milliseconds + 310_000)])
        #expect(try await self.fault(later) == .signedInFuture)
    }

    @Test func aChangedTextIsRefused() async throws {
        let parts = try self.store.transaction().split(separator: ".").map(String.init)
        let payload = Base64URL.encode(try self.store.payload(["productId": "com.example.issue8"]))
        #expect(try await self.fault("\(parts[0]).\(payload).\(parts[2])") == .badSignature)
        let zero = Base64URL.encode([UInt8](repeating: 0, count: 64))
        #expect(try await self.fault("\(parts[0]).\(parts[1]).\(zero)") == .badSignature)
        let ones = Base64URL.encode([UInt8](repeating: 0xff, count: 64))
        #expect(try await self.fault("\(parts[0]).\(parts[1]).\(ones)") == .badSignature)
    }

    @Test func aTransactionOfAnotherAppIsRefused() async throws {
        let text = try self.store.transaction(["bundleId": .string(Vectors.bundleID + ".evil")])
        #expect(try await self.fault(text) == .otherApp)
    }

    @Test(arguments: ["Xcode", "LocalTesting", "production", ""])
    func anotherEnvironmentIsRefused(name: String) async throws {
        #expect(try await self.fault(try self.store.transaction(["environment": .string(name)])) == .otherEnvironment)
    }

    @Test(
        arguments: [
            ["bundleId": .null], ["productId": .null], ["productId": ""], ["productId": 7], ["type": "Gift"],
            ["type": .null],
            ["purchaseDate": .null], ["purchaseDate": "2026"], ["purchaseDate": -1], ["expiresDate": .number(1.5)],
            ["expiresDate": .integer(.max)], ["revocationDate": "yes"], ["signedDate": .null],
            ["signedDate": .integer(.min)],
            ["isUpgraded": "true"], ["appAccountToken": "alice"], ["appAccountToken": 7],
            ["productId": .string(String(repeating: "p", count: 257))],
        ] as [[String: JSONValue]]
    )
    func anUnreadablePayloadIsRefused(members: [String: JSONValue]) async throws {
        guard case .malformed? = try await self.fault(try self.store.transaction(members)) else {
            Issue.record("accepted: \(members)")
            return
        }
    }

    @Test func rememberedChainsAreBounded() async throws {
        let stores = try (0...AppStoreChain.maximumRemembered).map { _ in try TestAppStore() }
        let pem = try stores.map { try $0.rootPEM }.joined(separator: "\n")
        let verifier = TransactionVerifier(try AppStoreRoots(Data(pem.utf8)))
        for store in stores + stores {
            #expect(try await self.fault(try store.transaction(), verifier) == nil)
        }
    }

    /// What is made up costs signatures, of which a client has some. A chain that was accepted before costs none.
    @Test func madeUpCertificatesAreWrongSecrets() async throws {
        let start = ContinuousClock.now
        let (wrong, verifier, other) = (Budget(.wrongSecrets) { start }, try self.verifier(), try TestAppStore())
        let forged = try other.sign(
            try other.payload(),
            chain: [other.signer, other.intermediate, self.store.root]
        )
        for _ in 0..<20 {
            guard case .untrusted? = try await self.fault(forged, verifier, wrong: wrong) else {
                Issue.record("not refused")
                return
            }
        }
        let good = try self.store.transaction()
        for text in [forged, good] {
            guard case .unchecked(let refusal)? = try await self.fault(text, verifier, wrong: wrong) else {
                Issue.record("checked")
                return
            }
            #expect(refusal.resource == .wrongSecrets && refusal.level == .caller)
        }
        let neighbour = BudgetCaller(.network([192, 0, 2, 2]))
        #expect(try await self.fault(good, verifier, wrong: wrong, of: neighbour) == nil)
        #expect(try await self.fault(good, verifier, wrong: wrong) == nil, "it is known now")
    }

    @Test func whatIsNotMadeUpIsNoWrongSecret() async throws {
        let start = ContinuousClock.now
        let (wrong, verifier, other) = (Budget(.wrongSecrets) { start }, try self.verifier(), try TestAppStore())
        let texts = [
            "garbage", try other.transaction(), try self.store.transaction(["bundleId": "com.example.other"]),
            try self.store.transaction(["revocationDate": 1_699_999_999_000]),
            try self.store.transaction(["type": "Auto-Renewable Subscription", "expiresDate": 1_600_000_000_000]),
        ]
        for _ in 0..<5 {
            for text in texts { _ = try await self.fault(text, verifier, wrong: wrong) }
        }
        // All twenty are left.
        for _ in 0..<20 { try wrong.spend(for: Self.client) }
    }
}
