"""Countries by region and continent, as the United Nations' statistics group them."""

from __future__ import annotations

COUNTRIES = """\
countries
northern Africa / Africa: algeria|egypt|libya|morocco|sudan|tunisia|western sahara
eastern Africa / Africa: burundi|comoros|djibouti|eritrea|ethiopia|kenya|madagascar|malawi|mauritius|mozambique|rwanda
  seychelles|somalia|south sudan|tanzania|uganda|zambia|zimbabwe
middle Africa / Africa: angola|cameroon|central african republic|chad|(democratic republic of the )?congo|dr congo
  equatorial guinea|gabon|sao tome and principe
southern Africa / Africa: botswana|eswatini|swaziland|lesotho|namibia|south africa
western Africa / Africa: benin|burkina faso|cabo verde|cape verde|cote d ivoire|côte d ivoire|ivory coast|gambia|ghana
  guinea|guinea bissau|liberia|mali|mauritania|niger|nigeria|senegal|sierra leone|togo
Caribbean / Americas: antigua and barbuda|bahamas|barbados|cuba|dominica|dominican republic|grenada|haiti|jamaica
  puerto rico|saint lucia|trinidad and tobago|trinidad|trinadad tobago|trinidad tobago
Central America / Americas: belize|costa rica|el salvador|guatemala|honduras|mexico|méxico|nicaragua|panama
South America / Americas: argentina|bolivia|brazil|chile|colombia|columbia|ecuador|guyana|paraguay|peru|suriname|uruguay
  venezuela
northern America / Americas: bermuda|canada|greenland|united states( of america)?|usa|us|u s a?|outlying us.*
central Asia / Asia: kazakhstan|kyrgyzstan|tajikistan|turkmenistan|uzbekistan
eastern Asia / Asia: china|hong( kong)?|japan|macau|mongolia|north korea|south( korea)?|korea|republic of korea|taiwan
south-eastern Asia / Asia: brunei|cambodia|indonesia|laos|malaysia|myanmar|burma|philippines|singapore|thailand
  timor leste|vietnam|viet nam
southern Asia / Asia: afghanistan|bangladesh|bhutan|india|iran|maldives|nepal|pakistan|sri lanka
western Asia / Asia: armenia|azerbaijan|bahrain|cyprus|georgia|iraq|israel|jordan|kuwait|lebanon|oman|palestine|qatar
  saudi arabia|syria|turkey|türkiye|united arab emirates|uae|yemen
eastern Europe / Europe: belarus|bulgaria|czechia|czech republic|hungary|moldova|poland|romania|russia
  russian federation|slovakia|ukraine
northern Europe / Europe: denmark|estonia|finland|iceland|ireland|latvia|lithuania|norway|sweden|united kingdom|uk
  great britain|england|scotland|wales|northern ireland
southern Europe / Europe: albania|andorra|bosnia and herzegovina|croatia|greece|italy|kosovo|malta|montenegro
  north macedonia|macedonia|portugal|san marino|serbia|slovenia|spain|yugoslavia|vatican
western Europe / Europe: austria|belgium|france|germany|liechtenstein|luxembourg|monaco|netherlands|holand netherlands
  switzerland|deutschland|österreich|schweiz
Oceania / Oceania: australia|fiji|kiribati|marshall islands|micronesia|nauru|new zealand|palau|papua new guinea|samoa
  solomon islands|tonga|tuvalu|vanuatu|guam
"""
