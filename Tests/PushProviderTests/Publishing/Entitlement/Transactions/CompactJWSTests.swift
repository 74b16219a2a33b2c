import Foundation
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushProvider

/// The form of signed transactions, before anything of them is believed.
@Suite struct CompactJWSTests {
    let store: TestAppStore

    init() throws { self.store = try TestAppStore() }

    private func fault(_ text: String) -> TransactionFault? {
        do throws(TransactionFault) {
            _ = try CompactJWS(text)
            return nil
        } catch {
            return error
        }
    }

    private func fault(header: String) throws -> TransactionFault? {
        self.fault(try self.store.sign(try self.store.payload(), header: header))
    }

    @Test func theThreePartsAreRead() throws {
        let text = try self.store.transaction()
        let signed = try CompactJWS(text)
        #expect(signed.certificates == [self.store.signer, self.store.intermediate, self.store.root])
        #expect(signed.payload["productId"] == "com.example.issue7")
        #expect(signed.signature.count == 64)
        #expect(text.hasPrefix(String(decoding: signed.signedBytes, as: UTF8.self) + "."))
    }

    @Test(arguments: ["none", "None", "ES384", "HS256", "RS256", "es256", ""])
    func anotherAlgorithmIsRefused(name: String) throws {
        let certificates = #"["AA==","AA==","AA=="]"#
        #expect(
            try self.fault(header: #"{"alg":"\#(name)","x5c":\#(certificates)}"#)
                == .malformed("it is not signed with ES256")
        )
    }

    @Test(arguments: [0, 1, 2, 4, 100])
    func anotherNumberOfCertificatesIsRefused(count: Int) throws {
        let certificates = Array(repeating: #""AA==""#, count: count).joined(separator: ",")
        let fault = TransactionFault.malformed("its header has \(count) certificates instead of 3")
        #expect(try self.fault(header: #"{"alg":"ES256","x5c":[\#(certificates)]}"#) == fault)
    }

    @Test(arguments: [
        #"{"alg":"ES256"}"#, #"{"alg":"ES256","x5c":"AA=="}"#, #"{"alg":"ES256","x5c":["AA==","AA==",1]}"#,
        #"{"alg":"ES256","x5c":["AA==","","AA=="]}"#, #"{"alg":"ES256","x5c":["AA==","!","AA=="]}"#,
        #"{"alg":"ES256","x5c":["AA==","AA==","AA=="],"crit":["b64"],"b64":false}"#,
        #"{"alg":"ES256","alg":"ES256","x5c":["AA==","AA==","AA=="]}"#,
        #"{"alg":"none","x5c":["AA==","AA==","AA=="],"alg":"ES256"}"#, #"["ES256"]"#, "ES256", "{", "",
    ])
    func aMalformedHeaderIsRefused(header: String) throws {
        guard case .malformed? = try self.fault(header: header) else {
            Issue.record("accepted: \(header)")
            return
        }
    }

    @Test func membersThatAreGivenTwiceAreRefused() throws {
        let payload = Data(#"{"productId":"a","productId":"b"}"#.utf8)
        let fault = self.fault(try self.store.sign(payload))
        #expect(fault == .malformed("its payload is not a JSON object in base64url, with each member once"))
    }

    /// Of the many texts that decoders take for the same bytes, one is accepted.
    @Test func otherFormsOfBase64AreRefused() throws {
        let parts = try self.store.transaction().split(separator: ".").map(String.init)
        let (header, payload, signature) = (parts[0], parts[1], parts[2])
        #expect(self.fault("\(header).\(payload).\(signature)") == nil)
        for text in [
            "\(header)=.\(payload).\(signature)", "\(header).\(payload)==.\(signature)",
            "\(header).\(payload).\(signature)==",
            " \(header).\(payload).\(signature)", "\(header).\(payload).\(signature)\n",
            "\(header).\(payload).\(signature.dropLast())", "\(header).\(payload).\(signature)A",
            "\(header).\(payload).", "\(header)..\(signature)", ".\(payload).\(signature)", "\(header).\(payload)",
            "\(header).\(payload).\(signature).", "\(header).\(payload).\(signature).AAAA", "", ".", "..", "...",
            "\(header).\(payload).\(signature.replacing("_", with: "/").replacing("-", with: "+"))/",
            // The last character of 64 bytes carries four bits that do not count.
            "\(header).\(payload).\(signature.dropLast())\(Self.next(signature.last))",
        ] {
            #expect(self.fault(text) != nil, "\(text.suffix(100))")
        }
    }

    /// Returns a character that stands for the same two bits as the last one of 86, and others behind them.
    private static func next(_ last: Character?) -> Character {
        switch last {
        case "A": "B"
        case "Q": "R"
        case "g": "h"
        default: "x"
        }
    }

    @Test func aLongTextIsRefusedUnread() throws {
        let text = String(repeating: "A", count: CompactJWS.maximumLength + 1)
        #expect(self.fault(text) == .tooLong)
        guard case .malformed? = self.fault(String(text.dropFirst())) else {
            Issue.record("accepted")
            return
        }
    }

    @Test func nestedJSONIsRefused() throws {
        let deep = String(repeating: "[", count: 3000)
        #expect(self.fault(try self.store.sign(Data(#"{"a":\#(deep)"#.utf8))) != nil)
    }
}
