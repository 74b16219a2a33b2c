import Foundation
import HTTPTypes
import Hummingbird
import ProviderModel
package import PushHTTP
import PushProvider
import PushStore
import PushSupport
import PushTypes

/// The operations for receipts of notifications, which installations submit and back ends list and export.
struct ReceiptsController: Controller {
    let store: any AppStore & NotificationStore & ReceiptStore & UserSecretStore
    let writer: ReceiptWriter

    var operations: [ProviderOperation] {
        let path = "/v1/notifications/{notification}/receipts"
        let types = TransferFormat.allCases.map(\.contentType)
        return [
            .init(
                .post,
                "/v1/apps/{app}/installations/{installation}/receipts",
                .unaudited,
                id: "sendReceipts",
                "Reports receipts. They are on disk before the response.",
                self.receive
            )
            .tag(.devices).scope(.registerSelf).parameters(.installationSecret)
            .body(ReceiptRequest.object.schema, maximum: ReceiptRequest.maximumBody)
            .responses(.ok(ReceiptSubmissionResponse.schema, "Every receipt of the request has been processed.")),
            .init(.get, path, id: "listReceipts", "The receipts of the notification.", self.list)
                .tag(.notifications).scope(.read).cost(.query).parameters(.cursor, .limit())
                .responses(.ok(.page("receipts", of: ReceiptResponse.schema))).reservingPage(ofEntries: 192),
            .init(
                .get,
                "\(path):export",
                id: "exportReceipts",
                "All receipts of the notification as a file.",
                self.export
            )
            .tag(.notifications).scope(.read)
            .parameters(.query("format", "Default ndjson.", .choice(of: TransferFormat.self)))
            .responses(ResponseDescription(status: 200, "A receipt per line.", .string(), contentTypes: types)),
        ]
    }

    /// Accepts receipts from the caller's own installation.
    private func receive(_ request: OperationRequest) async throws -> Response {
        let (app, installation) = (try await self.app(of: request), try request.installation())
        let body = try ReceiptRequest(try await request.fields(ReceiptRequest.object))
        let entries = body.entries.compactMap { try? $0.entry.get() }
        var written: ArraySlice<ReceiptResult>
        do {
            let batch = ReceiptBatch(from: .installation(installation, of: app), privacy: body.privacy, entries)
            written = try await self.writer.write(batch, app: app.name)[...]
        } catch let refusal as BudgetRefusal {
            throw refusal.error
        }
        var results = ReceiptSubmissionResponse()
        for entry in body.entries {
            switch entry.entry {
            case .success: if let result = written.popFirst() { results.add(result, id: entry.id) }
            case .failure(let error): results.add(error, id: entry.id)
            }
        }
        return try .json(results)
    }

    /// Returns the app of a request, after checking the secret of its installation. The app is read from the store only
    /// if the secret is wrong, because a valid secret proves that the app exists or has existed.
    /// - Throws: ``RequestError`` for an unknown app or a wrong secret.
    private func app(of request: OperationRequest) async throws -> Topic {
        guard let app = request.context.bundleID else { throw RequestError.noSuch("app", by: "bundle id") }
        do {
            let secret = self.store.installationSecret(try request.installation(), of: app)
            try InstallationSecret.check(in: request, secret)
        } catch {
            _ = try await request.app(self.store)
            throw error
        }
        return app
    }

    private func list(_ request: OperationRequest) async throws -> Response {
        let notification = try await request.object("notification") { try await self.store.notification($0) }
        let (cursor, limit) = (try request.cursor(.receipts), try request.limit())
        let place = cursor.map { ReceiptPlace(subject: $0.position, event: $0.second ?? 0, id: $0.third ?? 0) }
        let page = try await self.store.receipts(of: notification.id, after: place, limit: limit)
        let next = page.next.map { place in
            Cursor(list: .receipts, position: place.subject, second: place.event, third: place.id)
        }
        return try .page(
            "receipts",
            page.receipts.map { ReceiptResponse(receipt: $0, device: $0.device) },
            next: next?.text
        )
    }

    /// Responds with the receipts as a stream, while they are read from the store.
    private func export(_ request: OperationRequest) async throws -> Response {
        let notification = try await request.object("notification") { try await self.store.notification($0) }
        let format = try request.choice("format", TransferFormat.self) ?? .ndjson
        let name = "\(notification.id.uuidString)-receipts.\(format.rawValue)"
        let headers: HTTPFields = [
            .contentType: format.contentType, .contentDisposition: "attachment; filename=\"\(name)\"",
            .cacheControl: "no-store",
        ]
        let export = ReceiptExport(store: self.store, notification: notification.id, format: format)
        return Response(status: .ok, headers: headers, body: .init(asyncSequence: export))
    }
}

/// The response object for a receipt, which states the event of a notification on a device, and its time.
struct ReceiptResponse: ResponseObject {
    let receipt: ReceiptRecord
    /// The id of the device that submitted the receipt, or `nil` where all receipts are from one device.
    var device: Int64?

    static let schemaName: String? = "Receipt"
    static let members: [ResponseMember<Self>] = [
        .optional("deviceId", \.device, "In lists of a notification; absent where only counts are kept."),
        .required("event", \.receipt.event.word, as: .choice(ReceiptEvent.allCases.map(\.word))),
        .optional("action", \.receipt.action),
        .required("source", \.receipt.source.word, as: .choice(ReceiptSource.allCases.map(\.word))),
        .required("atMs", \.receipt.at, "By the device's clock."),
        .required("receivedAtMs", \.receipt.receivedAt),
    ]
}

/// The response object for the numbers of receipts for one event, in total and for each action.
package struct ReceiptCountResponse: ResponseObject {
    let event: ReceiptEvent
    let unique: Int
    let total: Int
    var actions: [Action]?

    /// The numbers of receipts for one action of a notification.
    struct Action: ResponseObject {
        let name: String
        let unique, total: Int

        static let members: [ResponseMember<Self>] = [
            .required("action", \.name), .required("unique", \.unique), .required("total", \.total),
        ]
    }

    package static let schemaName: String? = "ReceiptCount"
    package static let members: [ResponseMember<Self>] = [
        .required("event", \.event.word, as: .choice(ReceiptEvent.allCases.map(\.word))),
        .required("unique", \.unique, "The number of installations."),
        .required("total", \.total, "The number of receipts."),
        .optional("actions", \.actions, "Of action and converted, by name."),
    ]

    static func list(_ counts: [ReceiptCount]) -> [ReceiptCountResponse] {
        counts.filter { $0.action == nil }.map { count in
            let actions = counts.compactMap { one in
                one.event == count.event
                    ? one.action.map { Action(name: $0, unique: one.unique, total: one.total) } : nil
            }
            return ReceiptCountResponse(
                event: count.event,
                unique: count.unique,
                total: count.total,
                actions: actions.isEmpty ? nil : actions
            )
        }
    }
}
