import Foundation
import PushSupport

/// The answer of the direct entitlement API of Adobe DPS:
///
/// ```xml
/// <result httpResponseCode="200"><entitlements><productId>com.example.issue7</productId></entitlements></result>
/// ```
extension PublisherResponse {
    /// Reads a document. Elements that are not known are skipped.
    /// - Throws: ``PublisherFailure``.
    static func answer(inXML body: [UInt8]) throws(PublisherFailure) -> PublisherResponse {
        do {
            return try self.read(body)
        } catch let fault as XMLFault {
            throw .malformed(reason: fault.reason)
        } catch let failure as PublisherFailure {
            throw failure
        } catch {
            throw .malformed(reason: "\(error)")
        }
    }

    private static func read(_ body: [UInt8]) throws -> PublisherResponse {
        var reader = try XMLReader(body)
        guard case .start("result", let attributes)? = try reader.next() else {
            throw XMLFault(.notWellFormed, "its element is not 'result'")
        }
        var products: Set<String> = []
        var hasList = false
        var path: [String] = []
        var text = ""
        while let event = try reader.next() {
            switch event {
            case .start(let name, _):
                guard path.last != "productId" else { throw XMLFault(.notWellFormed, "a productId has elements") }
                if path.isEmpty, name == "entitlements" { hasList = true }
                path.append(name)
                text = ""
            case .text(let characters): text += characters
            case .end:
                if path == ["entitlements", "productId"] { products.insert(try self.product(text)) }
                _ = path.popLast()
            }
        }
        switch attributes["httpResponseCode"] ?? "200" {
        case "200": break
        case let code:
            guard let status = Int(code), (100...599).contains(status) else {
                throw XMLFault(.notWellFormed, "its httpResponseCode is not a status")
            }
            return try self.refusal(status: status)
        }
        guard hasList else { throw XMLFault(.notWellFormed, "it has no element 'entitlements'") }
        return .entitled(products)
    }

    private static func product(_ text: String) throws -> String {
        let product = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard (1...EntitlementProduct.maximumID).contains(product.utf8.count) else {
            throw XMLFault(.notWellFormed, "a productId has no text of 1 to \(EntitlementProduct.maximumID) bytes")
        }
        return product
    }
}
