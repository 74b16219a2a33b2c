package import Foundation
package import ProviderModel
package import PushStore
import PushSupport

/// An export of the receipts of a notification.
package typealias ReceiptExport = PagedExport<ReceiptPlace>

extension ReceiptExport {
    /// The maximum number of receipts of one page.
    private static var page: Int { 1000 }
    private static var header: String { "deviceId,event,action,source,at,receivedAt\r\n" }

    package init(store: any ReceiptStore, notification: UUID, format: TransferFormat) {
        self.init(header: format == .csv ? Self.header : nil) { position in
            let page = try await store.receipts(of: notification, after: position, limit: Self.page)
            return (Self.text(page.receipts, format), page.next)
        }
    }

    private static func text(_ receipts: [ReceiptRecord], _ format: TransferFormat) -> [UInt8] {
        switch format {
        case .ndjson:
            var json = JSONWriter()
            for receipt in receipts { Self.append(receipt, to: &json) }
            return json.bytes
        case .csv:
            var text: [UInt8] = []
            for receipt in receipts { Self.append(receipt, to: &text) }
            return text
        }
    }

    private static func append(_ receipt: ReceiptRecord, to json: inout JSONWriter) {
        json.raw(#"{"deviceId":"#)
        json.integer(receipt.device)
        json.raw(#","event":"#)
        json.string(receipt.event.word)
        json.raw(#","action":"#)
        json.string(receipt.action)
        json.raw(#","source":"#)
        json.string(receipt.source.word)
        json.raw(#","at":"#)
        json.string(receipt.at.rfc3339)
        json.raw(#","receivedAt":"#)
        json.string(receipt.receivedAt.rfc3339)
        json.raw("}\n")
    }

    private static func append(_ receipt: ReceiptRecord, to text: inout [UInt8]) {
        // The name of an action is foreign text, which a spreadsheet must not take for a formula.
        let action = receipt.action ?? ""
        let cells = [
            receipt.device.map(String.init) ?? "", receipt.event.word,
            action.first.map("=+-@\t".contains) == true ? "'\(action)" : action, receipt.source.word,
            receipt.at.rfc3339, receipt.receivedAt.rfc3339,
        ]
        for (index, cell) in cells.enumerated() {
            if index > 0 { text.append(UInt8(ascii: ",")) }
            DeviceCSVRow.append(cell, to: &text)
        }
        text += "\r\n".utf8
    }
}
