import ArgumentParser
import Foundation

/// The forms of files with devices that are imported: our own, and the lists of other servers.
enum DeviceImportFormat: String, CaseIterable, ExpressibleByArgument, Sendable {
    case ndjson, csv
    /// The file of the AeroGear UnifiedPush Server's importer.
    case aerogear
    /// An export of Parse Server's installations.
    case parse
    /// OneSignal's export.
    case onesignal
    /// A table of a back end that sends through gorush.
    case gorush

    /// Returns the format of a file in our own form; `nil` for an unknown extension.
    init?(fileName: String) {
        switch DeviceFileFormat(fileName: fileName) {
        case .ndjson?: self = .ndjson
        case .csv?: self = .csv
        case nil: return nil
        }
    }

    /// The name of the other server in the request; `nil` for our own forms.
    var list: String? {
        switch self {
        case .ndjson, .csv: nil
        case .aerogear, .parse, .onesignal, .gorush: self.rawValue
        }
    }

    /// Returns the media type of the request for a file. Without a known extension it is what the server writes.
    func contentType(ofFile name: String) -> String {
        switch (self, DeviceFileFormat(fileName: name)) {
        case (.ndjson, _): DeviceFileFormat.ndjson.contentType
        case (.csv, _): DeviceFileFormat.csv.contentType
        case (_, let format?): format.contentType
        case (.aerogear, nil), (.parse, nil): "application/json"
        case (.gorush, nil) where URL(filePath: name).pathExtension.lowercased() == "json": "application/json"
        case (.onesignal, nil), (.gorush, nil): DeviceFileFormat.csv.contentType
        }
    }
}
